"""From text to ids: added tokens, normalizer, pre-tokenizer, encoder, in Hugging Face's order.

Added tokens are found first; each stretch between them is normalized, searched for the tokens that live in normalized
text, cut into pieces, and every piece goes through the encoder or comes from the cache.

Chapter: Matching GPT-2 and GPT-4. Cost: linear on real text, O(n log n) at worst.
"""

from __future__ import annotations

from .byte_alphabet import from_alphabet, to_alphabet
from .cache import PieceCache
from .cached import cached_property
from .native import encoder_for, preparation, require_extension

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from .alignment import Aligned
    from .encoders.dropout import DropoutEncoder
    from .model import BPEModel
    from .native._core import Encoder
    from .normalizers import Normalizer
    from .placing import PlacedToken
    from .pretokenizers.base import PreTokenizer
    from .special_tokens import SpecialTokens

    Ids = NDArray[np.uint32]


def _left_to_others(text: str) -> list[int] | None:
    return None


class Pipeline:
    """The way of a text through the parts of a tokenizer. It can't be changed after it is made, its caches apart.

    Attributes:
        brief: gives the ids of a str in which no special token is looked for, or None, and then `ids` does.
        prepare: what is done to a text, given whether it is the beginning of the input, before it is encoded in C.
    """

    def __init__(
        self,
        model: BPEModel,
        special: SpecialTokens,
        normalizer: Normalizer | None,
        pre_tokenizer: PreTokenizer | None,
        encoder: str,
        cache_size: int,
    ) -> None:
        self.model, self.special = model, special
        self.normalizer, self.pre_tokenizer = normalizer, pre_tokenizer
        self.split = None if pre_tokenizer is None else pre_tokenizer.sole_split
        self.encoder = encoder
        self.cache = PieceCache(cache_size)
        self.prepare: Callable[[str, bool], str] | None = None
        self.brief: Callable[[str], list[int] | None] = _left_to_others
        # whether a text in which no special token may stand goes to the pre-tokenizer as it is
        self._undivided = normalizer is None and all(token.special for token in special.tokens)
        if encoder == "native":
            require_extension()
        elif encoder != "auto":
            self.native = None
            self.encode_piece  # noqa: B018 - to fail now and not with the first text

    @cached_property
    def encode_piece(self) -> Callable[[bytes], list[int]]:
        """The ids of a piece; made when Python is to encode one."""
        from .encoders import encode_function

        return encode_function("auto" if self.encoder == "native" else self.encoder, self.model)

    @cached_property
    def _cut(self) -> Callable[[str, int], list[str]]:
        """What cuts a text, given how many characters at its beginning come from the first one of the input."""
        if (split := self.split) is not None:
            return lambda text, first: split.split(text)
        pre_tokenizer = self.pre_tokenizer
        if pre_tokenizer is not None and pre_tokenizer.asks_for_origins:
            return pre_tokenizer.split_with_origins
        if pre_tokenizer is not None:
            return lambda text, first: pre_tokenizer.split(text, first > 0)
        if self.model.bytewise:
            return lambda text, first: [text] if text else []
        from .pretokenizers.implied import ImpliedCuts

        cuts = ImpliedCuts.of(self.model)
        return (lambda text, first: [text] if text else []) if cuts is None else (lambda text, first: cuts.split(text))

    @cached_property
    def _to_bytes(self) -> Callable[[str], bytes]:
        """How a piece becomes bytes: in UTF-8, but for pieces and models that are written in GPT-2's byte alphabet."""
        alphabet = self.pre_tokenizer is not None and self.pre_tokenizer.alphabet
        byte_level = self.pre_tokenizer is not None and self.pre_tokenizer.byte_level
        units = self.model.units
        if units is None or not units.characters:
            return from_alphabet if alphabet else str.encode
        if byte_level and not alphabet:
            return lambda piece: to_alphabet(piece.encode()).encode()
        return str.encode

    @property
    def plain(self) -> bool:
        """Whether ids follow from the pieces of one `Split` alone: no normalizer, no added tokens but special ones."""
        return self._undivided and self.model.bytewise and (self.pre_tokenizer is None or self.split is not None)

    def ids(self, text: str, allowed: frozenset[str] = frozenset(), encoder: DropoutEncoder | None = None) -> list[int]:
        """The ids of a valid text; special tokens other than the allowed ones are plain text.

        An `encoder` given here, whose ids differ from time to time, is used without the cache.
        """
        if self._undivided and not allowed and encoder is None:
            return self._ordinary(text, 1)
        ids: list[int] = []
        first = self._from_first(text)
        for part, token_id in self.special.split(text, allowed, self.normalizer):
            if token_id is None and encoder is not None:
                for piece in self._cut(part, first):
                    ids += encoder.encode_piece(self._to_bytes(piece))
            elif token_id is None:
                ids += self._ordinary(part, first)
            else:
                ids.append(token_id)
            first = 0
        return ids

    def _ordinary(self, text: str, first: int) -> list[int]:
        """The ids of normalized text without added tokens: in C where that is there and doesn't read in vain."""
        ids = None if self.native is None else self.native.encode(self._prepared(text, first))
        return self.ids_of_pieces(self._cut(text, first)) if ids is None else ids

    def _prepared(self, text: str, first: int) -> str:
        return text if self.prepare is None else self.prepare(text, first > 0)

    @cached_property
    def native(self) -> Encoder | None:
        """The encoder in C, made for the first text; None where Python encodes."""
        made = encoder_for(self.model, self.pre_tokenizer)
        if made is None:
            return None
        prepare = self.prepare = preparation(self.pre_tokenizer)
        if self._undivided:
            self.brief = made.encode if prepare is None else lambda text: made.encode(prepare(text, True))
        return made

    def count(self, text: str) -> int | None:
        """How many ids a text without special tokens has; None where C doesn't say without making a list of them."""
        if self.native is None or not self._undivided or not isinstance(text, str):
            return None
        ids = self.native.encode_array(self._prepared(text, 1))
        return None if ids is None else len(ids) // 4

    def array(self, text: str, allowed: frozenset[str] = frozenset()) -> Ids:
        """What `ids` gives, as an array of uint32."""
        import numpy as np

        if (native := self.native) is not None:
            return self._natively(text, allowed, native)
        return np.array(self.ids(text, allowed), np.uint32)

    def _natively(self, text: str, allowed: frozenset[str], native: Encoder) -> Ids:
        import numpy as np

        parts: list[Ids] = []
        first = self._from_first(text)
        for part, token_id in self.special.split(text, allowed, self.normalizer):
            if token_id is not None:
                parts.append(np.array([token_id], np.uint32))
            elif (ids := native.encode_array(self._prepared(part, first))) is not None:
                parts.append(np.frombuffer(ids, np.uint32))
            else:
                parts.append(np.array(self.ids_of_pieces(self._cut(part, first)), np.uint32))
            first = 0
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint32), *parts])

    def arrays(
        self, texts: Sequence[str], allowed: frozenset[str] = frozenset(), threads: int | None = None
    ) -> tuple[Ids, NDArray[np.int64]]:
        """The ids of all texts end to end, uint32, and where those of each begin, with the end of all behind."""
        from . import documents

        return documents.as_arrays(self, texts, allowed, threads)

    def lists(
        self, texts: Sequence[str], allowed: frozenset[str] = frozenset(), threads: int | None = None
    ) -> list[list[int]]:
        """What `ids` gives for each of several texts."""
        from . import documents

        return documents.as_lists(self, texts, allowed, threads)

    def ids_of_pieces(self, pieces: list[str]) -> list[int]:
        """The ids of pieces, from the cache where it has them."""
        ids: list[int] = []
        get, cache = self.cache.get, self.cache
        for piece in pieces:
            known = get(piece)
            ids += self.piece_ids(piece) if known is None else known
        cache.lookups += len(pieces)
        return ids

    def aligned(self, text: str, allowed: frozenset[str] = frozenset()) -> list[PlacedToken]:
        """What `ids` gives, each with the place in `text` that it stands for."""
        from .alignment import Aligned, normalized
        from .placing import added_token

        placed: list[PlacedToken] = []
        first = self._from_first(text)
        given = Aligned.of(text)
        for start, stop, raw_id in self.special.raw_spans(text, allowed):
            if raw_id is not None:
                placed.append(added_token(raw_id, given.part(start, stop)))
                first = 0
                continue
            ordinary = normalized(self.normalizer, given.part(start, stop))
            for begin, end, late_id in self.special.late_spans(ordinary.text, allowed, self.normalizer):
                part = ordinary.part(begin, end)
                if late_id is not None:
                    placed.append(added_token(late_id, part))
                else:
                    placed += self._placed(part, self._cut(part.text, first))
                first = 0
        return placed

    def _placed(self, part: Aligned, pieces: list[str]) -> Iterable[PlacedToken]:
        """The tokens of a stretch that is cut into `pieces`."""
        from .alignment import cut
        from .placing import place, place_pieces

        if self.pre_tokenizer is None:  # pieces that only the vocabulary implies are one to the model
            return place(self.model, self.ids_of_pieces(pieces), part, self._to_bytes)
        if self.split is None:
            found = cut(self.pre_tokenizer, part, pieces)
            return (token for piece in found for token in self._placed_piece(piece))
        return place_pieces(pieces, part, self._placed_piece)

    def _placed_piece(self, piece: Aligned) -> Iterator[PlacedToken]:
        from .placing import place

        return place(self.model, self.ids_of_pieces([piece.text]), piece, self._to_bytes)

    def _from_first(self, text: str) -> int:
        """How many characters of the normalized text come from the first one of `text`, for a Metaspace that asks."""
        if not self.asks_for_first:
            return 1
        from .alignment import Aligned, normalized

        starts = normalized(self.normalizer, Aligned.of(text)).starts
        return next((number for number, start in enumerate(starts) if start), len(starts))

    @property
    def asks_for_first(self) -> bool:
        """Whether it takes more than the normalized text to say what its beginning comes from."""
        asks = self.pre_tokenizer is not None and self.pre_tokenizer.asks_for_first
        return self.normalizer is not None and asks

    def from_first(self, text: str) -> int:
        """What `cut` wants to know about the beginning of `text`."""
        return self._from_first(text)

    def cut(self, part: str, first: int) -> list[str]:
        """The pieces of a normalized text; `first` is `from_first` of the whole input for its beginning, else 0."""
        return self._cut(part, first)

    def placed(self, part: Aligned, pieces: list[str]) -> Iterable[PlacedToken]:
        """The tokens of a normalized text that was cut into `pieces`, with their places."""
        return self._placed(part, pieces)

    def piece_ids(self, piece: str) -> list[int]:
        """The ids of a piece, worked out and kept."""
        ids = self.encode_piece(self._to_bytes(piece))
        self.cache.misses += 1
        self.cache.put(piece, ids)
        return ids

    def pieces(self, text: str) -> list[str]:
        """What a text is cut into after the normalizer, added tokens that are not special included."""
        pieces: list[str] = []
        first = self._from_first(text)
        for part, token_id in self.special.split(text, frozenset(), self.normalizer):
            pieces += [part] if token_id is not None else self._cut(part, first)
            first = 0
        return pieces
