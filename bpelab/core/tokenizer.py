"""A tokenizer: text to ids and back. This is the interface that streams, batches, templates, shards and editing use.

`Tokenizer` is a vocabulary with two pipelines, to ids (`pipeline.py`) and to text (`decode_pipeline.py`), built from a
specification. It doesn't open files or train; its subclass `BPETokenizer`, the public class, does. It is immutable, so
one object can serve many threads.

Chapter: A tokenizer in production. Cost: `encode` and `decode` are linear on real text, O(n log n) at worst.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._support.nearest_name import refuse_unknown
from .._support.textio import valid_text
from .._support.validate import check_errors, check_flags, refuse_keyed, whole_number
from ..errors import BPELabError
from . import detokenize
from .decode_pipeline import DecodePipeline
from .pipeline import Pipeline
from .vocabulary import Vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Never, NoReturn, Self

    import numpy as np
    from numpy.typing import NDArray

    from ..vocab.special_tokens import Special
    from .detokenize import Unknown
    from .pipeline import Ids
    from .spec import TokenizerSpec

CACHE_ENTRIES = 1 << 16


class Tokenizer(Vocabulary):
    """A vocabulary that can encode and decode. Create one with `from_spec`.

    Attributes:
        pipeline: from text to ids.
        decode_pipeline: from ids to text.
    """

    pipeline: Pipeline
    decode_pipeline: DecodePipeline

    @classmethod
    def from_spec(cls, spec: TokenizerSpec, *, encoder: str = "auto", cache_size: int = CACHE_ENTRIES) -> Self:
        """Create a tokenizer from a specification, such as the functions in `bpelab.formats` read from files."""
        made = cls.__new__(cls)
        made._set_up(spec, encoder, cache_size)  # noqa: SLF001 - of its own class
        return made

    def _set_up(self, spec: TokenizerSpec, encoder: str, cache_size: int) -> None:
        Vocabulary.__init__(self, spec)
        vars(self)["pipeline"] = Pipeline(spec, encoder, cache_size)
        vars(self)["decode_pipeline"] = DecodePipeline(spec)

    if not TYPE_CHECKING:  # else a type checker would let any name be set

        def __setattr__(self, name: str, value: object) -> None:
            self._refuse_change(name)

        def __delattr__(self, name: str) -> None:
            self._refuse_change(name)

    def _refuse_change(self, name: str) -> NoReturn:
        """Raise AttributeError, saying how to get a changed tokenizer instead."""
        argument = f"{name}=" if name in {*self._spec.arguments(), "encoder", "cache_size"} else ""
        advice = f"tokenizer.with_options({argument}...) returns a new one"
        raise AttributeError(f"a tokenizer can't be changed, and {name!r} was not set: {advice}", name=name, obj=self)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self._spec, self.pipeline.encoder, self.pipeline.cache.capacity)

    def __eq__(self, other: object) -> bool:
        """Return True if both have the same components, and therefore the same ids; the encoder doesn't count."""
        if not isinstance(other, Tokenizer) or self is other:
            return self is other
        return type(self) is type(other) and self._spec == other._spec

    def __hash__(self) -> int:
        return hash(self._spec)

    # -- encoding ----------------------------------------------------------------------------------------------------

    def encode(
        self,
        text: str,
        *,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
        **wrong: Never,
    ) -> list[int]:
        """Return the ids of `text`.

        Args:
            allowed_special: names of special tokens (or "all") that become their id where they occur in the text.
            disallowed_special: names (or "all", except the allowed ones) that raise SpecialTokenError instead. Special
                tokens in neither are plain text. That is the default for all of them, because text is untrusted.
            add_special_tokens: whether the post-processor, if any, adds its tokens.

        Lone surrogates become U+FFFD. Cost: O(n log n) at worst, linear on real text.

        >>> from bpelab import BPETokenizer
        >>> t = BPETokenizer.train("abab", 258, special_tokens=["<|end|>"])
        >>> t.encode("ab<|end|>", allowed_special="all"), len(t.encode("ab<|end|>"))
        ([256, 257], 8)
        """
        if wrong:
            refuse_unknown(self.encode, wrong)
        if add_special_tokens is not True:
            check_flags(add_special_tokens=add_special_tokens)
        pipeline = self.pipeline
        asked = allowed_special != () or disallowed_special != ()
        ids = None if asked or type(text) is not str else pipeline.encode_short(text)
        if ids is None:
            given = (
                self._special.check_text(text, allowed_special, disallowed_special) if asked else (valid_text(text),)
            )
            ids = pipeline.ids(*given)
        if add_special_tokens and self._spec.post_processor is not None:
            return self._spec.post_processor.apply(ids, self._special)
        return ids

    def encode_ordinary(self, text: str) -> list[int]:
        """Return the ids of `text`; special tokens in it are plain text, and none are added."""
        ids = self.pipeline.encode_short(text) if type(text) is str else None
        return self.pipeline.ids(valid_text(text)) if ids is None else ids

    def encode_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece, which isn't split by the pattern.

        >>> from bpelab import BPETokenizer
        >>> BPETokenizer.train("abab", 257).encode_piece(b"ab ab")
        [256, 32, 256]
        """
        return self.pipeline.encode_piece(bytes(piece))

    def encode_with_dropout(
        self, text: str, probability: float | None = None, *, seed: int | None = None, allowed_special: Special = ()
    ) -> list[int]:
        """Encode with BPE-dropout, for training a model: each merge is skipped with `probability`.

        The default probability is that of the tokenizer's file. The same `seed` gives the same ids. Raises ValueError
        if neither gives a probability, or if it isn't from 0 to 1. Source: Provilkov et al. 2020.
        """
        if probability is None:
            probability = self._spec.dropout
        if probability is None:
            raise ValueError("this tokenizer's file asks for no dropout: give a probability from 0 to 1")
        from random import Random

        from ..encoders.dropout import DropoutEncoder

        encoder = DropoutEncoder(self.pipeline.model, probability, Random(seed))
        allowed = self._special.select(allowed_special, "allowed_special")
        return self.pipeline.ids(valid_text(text), allowed, encoder)

    def encode_array(self, text: str, *, allowed_special: Special = (), disallowed_special: Special = ()) -> Ids:
        """Return the ids of `text` as a numpy array of uint32, without an intermediate list or added special tokens.

        Runs in C or Python, as `encode` does: see the encoders "auto" and "native".

        >>> from bpelab import BPETokenizer
        >>> BPETokenizer.train("abab", 257).encode_array("cabab")
        array([ 99, 256, 256], dtype=uint32)
        """
        asked = allowed_special != () or disallowed_special != ()
        ids = None if asked or type(text) is not str else self.pipeline.array_short(text)
        if ids is not None:
            return ids
        valid, allowed = self._special.check_text(text, allowed_special, disallowed_special)
        return self.pipeline.array(valid, allowed)

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        threads: int | None = None,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
        **wrong: Never,
    ) -> list[list[int]]:
        """Return the ids of each text, as a list of lists; options as for `encode`.

        Args:
            threads: the number of threads; None for one a processor, if the batch is large enough. Only C uses them
                (see the encoders "auto" and "native"); Python encodes in one thread.

        >>> from bpelab import BPETokenizer
        >>> BPETokenizer.train("abab", 257).encode_batch(["ab", "", "cab"])
        [[256], [], [99, 256]]
        """
        if wrong:
            refuse_unknown(self.encode_batch, wrong)
        check_flags(add_special_tokens=add_special_tokens)
        encode_with, allowed = self._checked_batch(texts, allowed_special, disallowed_special)
        found = self.pipeline.lists(encode_with, allowed, threads)
        if add_special_tokens and self._spec.post_processor is not None:
            return [self._spec.post_processor.apply(ids, self._special) for ids in found]
        return found

    def encode_batch_array(
        self,
        texts: Iterable[str],
        *,
        threads: int | None = None,
        allowed_special: Special = (),
        disallowed_special: Special = (),
    ) -> tuple[Ids, NDArray[np.int64]]:
        """Return the ids of several texts end to end, and their offsets: text i has ids[offsets[i]:offsets[i + 1]].

        The ids are a numpy array of uint32, the offsets one of int64, with one entry more than there are texts: the
        layout of Arrow's lists. No special tokens are added. Options as for `encode_batch`.

        >>> from bpelab import BPETokenizer
        >>> ids, offsets = BPETokenizer.train("abab", 257).encode_batch_array(["ab", "", "cab"])
        >>> ids.tolist(), offsets.tolist()
        ([256, 99, 256], [0, 1, 1, 3])
        """
        return self.pipeline.arrays(*self._checked_batch(texts, allowed_special, disallowed_special), threads)

    def _checked_batch(
        self, texts: Iterable[str], allowed_special: Special, disallowed_special: Special
    ) -> tuple[list[str], frozenset[str]]:
        """Return the texts, which may have lone surrogates, and the special tokens allowed in them."""
        if isinstance(texts, (str, bytes)):
            raise TypeError("a batch is several texts; for one, use encode or encode_array")
        refuse_keyed(texts, "the batch")
        encode_with = list(texts)
        if not set(map(type, encode_with)) <= {str}:
            wrong = next((n for n, text in enumerate(encode_with) if not isinstance(text, str)), None)
            if wrong is not None:
                raise TypeError(f"texts[{wrong}] must be a str, not {type(encode_with[wrong]).__name__}")
        allowed = self._special.select(allowed_special, "allowed_special")
        disallowed = self._special.select(disallowed_special, "disallowed_special") - allowed
        for text in encode_with if disallowed else ():
            self._special.check(valid_text(text), disallowed)
        return encode_with, allowed

    def tokenize(self, text: str, **options: Any) -> list[bytes]:
        """Return the tokens of `text` as bytes; options as for `encode`."""
        return self.convert_ids_to_tokens(self.encode(text, **options))

    def pieces(self, text: str) -> list[str]:
        """Return the pieces into which the pre-tokenizer cuts the normalized `text`."""
        return self.pipeline.pieces(valid_text(text))

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
        """Return the longest prefix of `text`, in whole characters, that `encode`s to at most `max_tokens` tokens.

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

        return chunks(
            valid_text(text),
            size,
            overlap,
            lambda part: [token.offsets[0] for token in pipeline.encode_with_offsets(part)],
            lambda part: len(pipeline.ids(part)),
        )

    # -- decoding ----------------------------------------------------------------------------------------------------

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

    # -- components ---------------------------------------------------------------------------------------------------

    @property
    def pattern(self) -> str | None:
        """The pattern's name, or its regular expression if unnamed; None if it isn't one pattern alone."""
        return self._spec.pattern


def check_tokenizer(value: object) -> None:
    """Raise TypeError unless `value` is a tokenizer; the name of one isn't."""
    if not isinstance(value, Tokenizer):
        raise TypeError(
            f"tokenizer is a BPETokenizer, not {value!r:.40}: BPETokenizer.from_tiktoken(name) and "
            "from_pretrained(path) return one"
        )


def _rebuild(kind: type[Tokenizer], spec: TokenizerSpec, encoder: str, cache_size: int) -> Tokenizer:
    return kind.from_spec(spec, encoder=encoder, cache_size=cache_size)
