"""Ids to text: the methods of a tokenizer that decode.

They check their arguments, and leave the rest to `decode_pipeline.py` and `detokenize.py`.
Chapter: A tokenizer in production. Cost: linear.
"""

from __future__ import annotations

from .._support.nearest_name import refuse_unknown
from .._support.validate import check_errors, check_flags
from ..errors import BPELabError
from . import detokenize
from .vocabulary import Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Never

    from .decode_pipeline import DecodePipeline
    from .detokenize import Unknown


class IdsToText(Vocabulary):
    """A vocabulary that can decode.

    Attributes:
        decode_pipeline: from ids to text.
    """

    decode_pipeline: DecodePipeline

    def decode_bytes(
        self, ids: Iterable[int], *, unknown: Unknown = "error", skip_special_tokens: bool = False
    ) -> bytes:
        """Return the bytes of `ids`.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist, unless `unknown` is "replace" (U+FFFD) or
        "skip"; TypeError for an id that isn't an integer.
        """
        check_flags(skip_special_tokens=skip_special_tokens)
        decoding = self.decode_pipeline
        if decoding.joins_bytes:
            return bytes(decoding.join(ids, unknown, skip_special_tokens))
        ordinary = decoding.without_special(ids) if skip_special_tokens else ids
        text = decoding.text_of(decoding.token_strings(ordinary, unknown), "surrogateescape")
        return text.encode("utf-8", "surrogateescape")

    def decode(
        self,
        ids: Iterable[int],
        *,
        errors: str = "replace",
        unknown: Unknown = "error",
        skip_special_tokens: bool = False,
        **wrong: Never,
    ) -> str:
        """Return the text of `ids`; `errors` is as for bytes.decode, for ids whose bytes aren't UTF-8.

        Special tokens are part of the text, also those that `encode` puts around it, such as `<bos>`;
        `skip_special_tokens=True` drops them.

        >>> from bpelab import BPETokenizer
        >>> t = BPETokenizer.train("abab", 257)
        >>> t.decode([256, 99]), t.decode([999], unknown="replace")
        ('abc', '\ufffd')
        """
        if wrong:
            refuse_unknown(self.decode, wrong)
        if errors != "replace":
            check_errors(errors)
        if skip_special_tokens is not False:
            check_flags(skip_special_tokens=skip_special_tokens)
        decoding = self.decode_pipeline
        if decoding.joins_bytes:
            return str(decoding.join(ids, unknown, skip_special_tokens), "utf-8", errors)
        if errors == "replace":
            ordinary = decoding.without_special(ids) if skip_special_tokens else ids
            return decoding.text_of(decoding.token_strings(ordinary, unknown), errors)
        data = self.decode_bytes(ids, unknown=unknown, skip_special_tokens=skip_special_tokens)
        return data.decode("utf-8", errors)

    def decode_batch(self, batch: Iterable[Iterable[int]], *, skip_padding: bool = True, **options: Any) -> list[str]:
        """Return the text of each sequence of ids; options as for `decode`.

        With `skip_padding`, leading and trailing pad tokens are removed from each row first.
        """
        check_flags(skip_padding=skip_padding)
        pad = self.pad_token_id if skip_padding else None
        return [self.decode(ids if pad is None else detokenize.strip_padding(ids, pad), **options) for ids in batch]

    def decode_with_offsets(self, ids: Iterable[int]) -> tuple[str, list[int]]:
        """Return the text of `ids`, and for each id the index of the character in which its token starts.

        Raises BPELabError for a tokenizer whose tokens aren't bytes.
        """
        if not self.decode_pipeline.joins_bytes:
            raise BPELabError("offsets are known for byte-level tokenizers only")
        return detokenize.text_and_offsets(detokenize.join_tokens(ids, self.decode_pipeline.token_bytes))
