"""Token counts: how many tokens a text has, and where to cut it so that each part has at most a given number.

Chapter: A tokenizer in production. Cost: that of encoding, or less: counting stops at a limit.
"""

from __future__ import annotations

from .._support.nearest_name import refuse_unknown
from .._support.textio import valid_text
from .._support.validate import check_flags, whole_number
from .text_to_ids import TextToIds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Never

    from ..vocab.special_tokens import Special


class TokenCounts(TextToIds):
    """A vocabulary that can encode, count, and cut texts by their number of tokens."""

    def count_tokens(
        self,
        text: str,
        limit: int | None = None,
        *,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
        **wrong: Never,
    ) -> int:
        """Return the number of tokens that `encode` returns with the same options.

        With a `limit`, counting stops as soon as the limit is passed, and the result is limit + 1: check
        `count_tokens(text, limit=n) <= n`.
        """
        if wrong:
            refuse_unknown(self.count_tokens, wrong)
        if limit is not None and (limit := whole_number("limit", limit)) < 0:
            raise ValueError(f"limit is a number of tokens, 0 or more, not {limit}")
        plain = allowed_special == () and disallowed_special == ()
        if limit is None and plain and (count := self.pipeline.count(text)) is not None:
            return count + self._added(add_special_tokens)
        if limit is None or not plain or not self.pipeline.is_single_split:
            ids = self.encode(
                text,
                allowed_special=allowed_special,
                disallowed_special=disallowed_special,
                add_special_tokens=add_special_tokens,
            )
            return len(ids) if limit is None else min(len(ids), limit + 1)
        from .token_limit import count_up_to

        return count_up_to(self.pipeline, valid_text(text), limit, self._added(add_special_tokens))

    def _added(self, add_special_tokens: bool) -> int:
        check_flags(add_special_tokens=add_special_tokens)
        return self._spec.post_processor.added if add_special_tokens and self._spec.post_processor is not None else 0

    def truncate(self, text: str, max_tokens: int, *, add_special_tokens: bool = True) -> str:
        """Return the longest prefix of `text`, in whole characters, that has at most `max_tokens` tokens.

        >>> from bpelab import BPETokenizer
        >>> BPETokenizer.train("low lower " * 9, vocab_size=261).truncate("lowest of the low", 3)
        'lowes'

        Raises ValueError if `max_tokens` is less than the number of tokens that the post-processor adds. Cost: that of
        encoding the prefix. With a custom pattern, a pre-tokenizer of several steps, or a normalizer, prefixes are
        tried one by one around the offset where the limit is first met. A prefix that fits again more than 64
        characters later isn't found.
        """
        text = valid_text(text)
        room = whole_number("max_tokens", max_tokens) - self._added(add_special_tokens)
        if room < 0:
            raise ValueError(f"max_tokens={max_tokens} is too small: {max_tokens - room} special tokens are added")
        from .token_limit import longest_fitting

        return text[: longest_fitting(self.pipeline, text, room)]

    def split_by_tokens(self, text: str, size: int, overlap: int = 0) -> list[str]:
        """Split `text` into chunks of at most `size` tokens each, when encoded alone and without added special tokens.

        Without `overlap` the chunks join to the text (except for lone surrogates). With it, each chunk starts with the
        end of the previous one, of at most `overlap` tokens. A character is never cut.

        >>> from bpelab import BPETokenizer
        >>> BPETokenizer.train("low lower " * 9, vocab_size=261).split_by_tokens("lowest of the low", 4)
        ['lowest', ' of ', 'the low']

        Raises ValueError for a size below 1, an overlap that isn't smaller than the size, and a character of more than
        `size` tokens. Cost: linear; a few times that of `encode_with_offsets`.
        """
        pipeline = self.pipeline
        from .chunking import chunks
        from .token_spans import encode_with_offsets

        return chunks(
            valid_text(text),
            size,
            overlap,
            lambda part: [token.offsets[0] for token in encode_with_offsets(pipeline, part)],
            lambda part: len(pipeline.ids(part)),
        )
