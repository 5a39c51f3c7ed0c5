"""From text to ids: added tokens, normalizer, pre-tokenizer, encoder, in Hugging Face's order.

Added tokens are found first. Each segment between them is normalized, searched for the added tokens that match
normalized text, and cut into pieces. Each piece is encoded or comes from the cache.

Chapter: Matching GPT-2 and GPT-4. Cost: linear on real text, O(n log n) at worst.
"""

from __future__ import annotations

from sys import byteorder

from .._support.lazy_property import cached_property
from .._support.validate import whole_number
from ..native import encoder_for, preparation, require_extension
from ..unicode.byte_alphabet import from_alphabet, to_alphabet
from .piece_cache import PieceCache
from .short_texts import short_text_encoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ..encoders.dropout import DropoutEncoder
    from ..encoders.superwords import SuperwordEncoder
    from ..native._core import Encoder
    from ..vocab.special_tokens import Text
    from .spec import TokenizerSpec

    Ids = NDArray[np.uint32]


def check_encoding(encoder: str, cache_size: int) -> None:
    """Raise ValueError for an unknown encoder or a negative size, and TypeError for a size that isn't an integer.

    Raises MissingDependencyError for "native" if the extension wasn't built.
    """
    if whole_number("cache_size", cache_size) < 0:
        raise ValueError(f"cache_size is the number of pieces that are kept, 0 for none, not {cache_size}")
    if encoder == "native":
        require_extension()
    elif encoder != "auto":
        from ..encoders import check_name

        check_name(encoder)


def _no_fast_path(text: str) -> list[int] | None:
    return None


def _listed(ids: tuple[int, ...]) -> list[int]:
    return [*ids]


def _packed(ids: tuple[int, ...]) -> bytearray:
    return bytearray(b"".join(token_id.to_bytes(4, byteorder) for token_id in ids))


class Pipeline:
    """The encoding pipeline of a tokenizer. It is immutable, except for its caches.

    Attributes:
        encode_short: fast path for a str that isn't searched for special tokens. It returns None if it doesn't apply;
            use `ids` then. C reports lone surrogates itself, so they needn't be looked for first.
        prepare: the function applied to a text before C encodes it, given whether it is the start of the input.
    """

    def __init__(self, spec: TokenizerSpec, encoder: str, cache_size: int) -> None:
        check_encoding(encoder, cache_size)
        self.model, self.special = spec.model, spec.special_tokens
        self.normalizer, self.pre_tokenizer = spec.normalizer, spec.pre_tokenizer
        self.split = None if spec.pre_tokenizer is None else spec.pre_tokenizer.as_single_split
        self.encoder = encoder
        self.cache = PieceCache(cache_size)
        self.prepare: Callable[[str, bool], str] | None = None
        self.encode_short: Callable[[str], list[int] | None] = _no_fast_path
        # whether a text without allowed special tokens is one segment; and whether it isn't normalized either
        self._special_only = all(token.special for token in self.special.tokens)
        self._no_added_tokens_possible = self.normalizer is None and self._special_only
        if encoder not in ("auto", "native"):
            self.native = None
            self.encode_piece  # noqa: B018 - to fail now and not with the first text

    @cached_property
    def encode_piece(self) -> Callable[[bytes], list[int]]:
        """Return the function from a piece to its ids; it is created when Python first encodes one."""
        from ..encoders import encode_function

        if self.encoder in ("auto", "native") and self.superwords is not None:
            return self.superwords.encode_piece
        return encode_function("auto" if self.encoder == "native" else self.encoder, self.model)

    @cached_property
    def superwords(self) -> SuperwordEncoder | None:
        """Return the two-stage encoder if the pattern joins words and the model has superwords, else None."""
        if self.split is None or self.split.cuts_words:
            return None
        from ..encoders.superwords import SuperwordEncoder

        return SuperwordEncoder(self.model) if SuperwordEncoder.supports(self.model) else None

    @cached_property
    def pre_tokenize(self) -> Callable[[str, int], list[str]]:
        """Return the function that cuts a segment into pieces; its second argument is the `first` of `segments`."""
        if (split := self.split) is not None:
            return lambda text, first: split.split(text)
        pre_tokenizer = self.pre_tokenizer
        if pre_tokenizer is not None and pre_tokenizer.asks_for_origins:
            return pre_tokenizer.split_with_origins
        if pre_tokenizer is not None:
            return lambda text, first: pre_tokenizer.split(text, first > 0)
        if self.model.is_byte_level:
            return lambda text, first: [text] if text else []
        from ..boundaries.from_vocabulary import VocabularyBoundaries

        cuts = VocabularyBoundaries.of(self.model)
        return (lambda text, first: [text] if text else []) if cuts is None else (lambda text, first: cuts.split(text))

    @cached_property
    def to_bytes(self) -> Callable[[str], bytes]:
        """Return the function from a piece to bytes: UTF-8 unless pieces or model use GPT-2's byte alphabet."""
        alphabet = self.pre_tokenizer is not None and self.pre_tokenizer.emits_byte_alphabet
        byte_level = self.pre_tokenizer is not None and self.pre_tokenizer.byte_level
        if not self.model.is_char_level:
            return from_alphabet if alphabet else str.encode
        if byte_level and not alphabet:
            return lambda piece: to_alphabet(piece.encode()).encode()
        return str.encode

    @property
    def is_single_split(self) -> bool:
        """True if the pieces of one `Split` determine the ids: no normalizer, no added tokens except special ones."""
        return (
            self._no_added_tokens_possible
            and self.model.is_byte_level
            and (self.pre_tokenizer is None or self.split is not None)
        )

    def ids(self, text: str, allowed: frozenset[str] = frozenset(), encoder: DropoutEncoder | None = None) -> list[int]:
        """Return the ids of a valid text; special tokens other than the allowed ones are plain text.

        An `encoder` passed here is used without the cache, because its ids may differ from call to call.
        """
        if self._no_added_tokens_possible and not allowed and encoder is None:
            return self.encode_segment(text, 1)
        ids: list[int] = []
        for segment, token_id, first in self._segments_of(text, allowed):
            if token_id is not None:
                ids.append(token_id)
            elif encoder is None:
                ids += self.encode_segment(segment, first)
            else:
                for piece in self.pre_tokenize(segment, first):
                    ids += encoder.encode_piece(self.to_bytes(piece))
        return ids

    def segments(
        self, text: Text, allowed: frozenset[str], normalize: Callable[[Text], Text] | None = None
    ) -> Iterator[tuple[Text, int | None, int]]:
        """Yield a text's segments in order: (added token, its id, 0), or (normalized text between them, None, first).

        `first` is the number of the segment's characters that come from the first one of the input; a Metaspace needs
        it. If `text` is an AlignedString, and `normalize` works on these, segments know their offsets.
        """
        first = self.chars_from_first(str(text))
        for segment, token_id in self.special.split(text, allowed, self.normalizer, normalize):
            yield segment, token_id, first
            first = 0

    def _segments_of(self, text: str, allowed: frozenset[str]) -> Iterable[tuple[str, int | None, int]]:
        """Return the `segments` of a str: one segment, without a search, if no added token can match."""
        if allowed or not self._special_only:
            return self.segments(text, allowed)
        segment = self.normalizer(text) if text and self.normalizer is not None else text
        return [(segment, None, self.chars_from_first(text))] if segment else []

    def encode_segment(self, text: str, first: int) -> list[int]:
        """Return the ids of normalized text without added tokens: from C if it supports this text, else from Python."""
        ids = None if self.native is None else self.native.encode(self._prepared(text, first))
        return self.encode_pieces(self.pre_tokenize(text, first)) if ids is None else ids

    def _prepared(self, text: str, first: int) -> str:
        return text if self.prepare is None else self.prepare(text, first > 0)

    @cached_property
    def native(self) -> Encoder | None:
        """Return the encoder in C, created for the first text, or None if Python encodes."""
        made = encoder_for(self.model, self.pre_tokenizer)
        if made is None:
            return None
        prepare = self.prepare = preparation(self.pre_tokenizer)
        if self._no_added_tokens_possible and prepare is None:
            self.encode_short = made.encode
        elif not self.depends_on_position:
            self.encode_short = short_text_encoder(self.special, self.normalizer, prepare, made.encode, _listed)
        return made

    @cached_property
    def _pack_short(self) -> Callable[[str], bytearray | None]:
        """Return `encode_short` with ids of four bytes each; C must encode, and the position must not matter."""
        assert self.native is not None
        return short_text_encoder(self.special, self.normalizer, self.prepare, self.native.encode_array, _packed)

    def count(self, text: str) -> int | None:
        """Return the number of ids of a text without special tokens, or None if C can't count them without a list."""
        ids = self._packed_ids(text) if isinstance(text, str) else None
        return None if ids is None else len(ids) // 4

    def array_short(self, text: str) -> Ids | None:
        """Return the ids of a str that isn't searched for special tokens, or None if it needs `array`."""
        ids = self._packed_ids(text)
        if ids is None:
            return None
        try:  # faster than importing the module that explains its absence
            import numpy as np
        except ImportError:
            from .._support.numpy_import import np
        return np.frombuffer(ids, np.uint32)

    def _packed_ids(self, text: str) -> bytearray | None:
        return None if self.native is None or self.depends_on_position else self._pack_short(text)

    def array(self, text: str, allowed: frozenset[str] = frozenset()) -> Ids:
        """Return the same ids as `ids`, as an array of uint32."""
        from .._support.numpy_import import np

        if (native := self.native) is None:
            return np.array(self.ids(text, allowed), np.uint32)
        parts: list[Ids] = []
        for segment, token_id, first in self._segments_of(text, allowed):
            if token_id is not None:
                parts.append(np.array([token_id], np.uint32))
            elif (ids := native.encode_array(self._prepared(segment, first))) is not None:
                parts.append(np.frombuffer(ids, np.uint32))
            else:
                parts.append(np.array(self.encode_pieces(self.pre_tokenize(segment, first)), np.uint32))
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint32), *parts])

    def arrays(
        self, texts: Sequence[str], allowed: frozenset[str] = frozenset(), threads: int | None = None
    ) -> tuple[Ids, NDArray[np.int64]]:
        """Return the ids of all texts, concatenated, as uint32; and the offset of each text, followed by the total."""
        from . import batch as documents

        return documents.as_arrays(self, texts, allowed, threads)

    def lists(
        self, texts: Sequence[str], allowed: frozenset[str] = frozenset(), threads: int | None = None
    ) -> list[list[int]]:
        """Return the list of `ids` for each text."""
        from . import batch as documents

        return documents.as_lists(self, texts, allowed, threads)

    def encode_pieces(self, pieces: list[str]) -> list[int]:
        """Return the ids of pieces, from the cache if possible."""
        ids: list[int] = []
        get, cache = self.cache.get, self.cache
        for piece in pieces:
            known = get(piece)
            ids += self.encode_and_cache(piece) if known is None else known
        cache.lookups += len(pieces)
        return ids

    def chars_from_first(self, text: str) -> int:
        """Return the number of normalized characters that come from the first character of `text`."""
        if not self.depends_on_position:
            return 1
        from ..normalizers.base import normalize_aligned
        from ..texts.aligned_string import AlignedString

        starts = normalize_aligned(self.normalizer, AlignedString.of(text)).starts
        return next((index for index, start in enumerate(starts) if start), len(starts))

    @cached_property
    def depends_on_position(self) -> bool:
        """Return whether the pre-tokenizer needs to know which normalized characters come from the input's first."""
        asks = self.pre_tokenizer is not None and self.pre_tokenizer.depends_on_position
        return self.normalizer is not None and asks

    def encode_and_cache(self, piece: str) -> list[int]:
        """Encode a piece that isn't in the cache, cache its ids, and return them."""
        ids = self.encode_piece(self.to_bytes(piece))
        self.cache.misses += 1
        self.cache.put(piece, ids)
        return ids

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of the normalized text, including added tokens that aren't special."""
        pieces: list[str] = []
        for segment, token_id, first in self.segments(text, frozenset()):
            pieces += [segment] if token_id is not None else self.pre_tokenize(segment, first)
        return pieces
