"""From text to ids: added tokens, normalizer, pre-tokenizer, encoder, in Hugging Face's order.

Added tokens are found first; each stretch between them is normalized, searched for the tokens that live in normalized
text, cut into pieces, and every piece goes through the encoder or comes from the cache.

Chapter: Matching GPT-2 and GPT-4. Cost: linear on real text, O(n log n) at worst.
"""

from collections.abc import Callable
from typing import Any

from .alignment import Aligned, cut, normalized
from .byte_alphabet import from_alphabet, to_alphabet
from .cache import PieceCache
from .encoders import make_encoder
from .encoders.dropout import DropoutEncoder
from .model import BPEModel
from .normalizers import Normalizer
from .normalizers.origin import from_first
from .placing import PlacedToken, added_token, place
from .pretokenizers.base import PreTokenizer
from .pretokenizers.byte_level import ByteLevel
from .pretokenizers.implied import ImpliedCuts
from .pretokenizers.sequence import PreTokenizerSequence
from .pretokenizers.split import Split, SplitPattern
from .special_tokens import SpecialTokens


class Pipeline:
    """The way of a text through the parts of a tokenizer. It can't be changed after it is made, its cache apart."""

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
        self.split = sole_split(pre_tokenizer)
        self.encode_piece = make_encoder(encoder, model).encode_piece
        self.cache = PieceCache(cache_size)
        self._asks_for_first = _asks_for_first(pre_tokenizer)
        self._cut = self._choose_cut()
        self._to_bytes = self._choose_bytes()

    def _choose_cut(self) -> Callable[[str, int], list[str]]:
        """What cuts a text, given how many characters at its beginning come from the first one of the input."""
        if (split := self.split) is not None:
            return lambda text, first: split.split(text)
        pre_tokenizer = self.pre_tokenizer
        if isinstance(pre_tokenizer, PreTokenizerSequence) and pre_tokenizer.asks_for_origins:
            return pre_tokenizer.split_with_origins
        if pre_tokenizer is not None:
            return lambda text, first: pre_tokenizer.split(text, first > 0)
        cuts = ImpliedCuts.of(self.model)
        return (lambda text, first: [text] if text else []) if cuts is None else (lambda text, first: cuts.split(text))

    def _choose_bytes(self) -> Callable[[str], bytes]:
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
        return (
            self.normalizer is None
            and self.model.bytewise
            and (self.pre_tokenizer is None or self.split is not None)
            and all(token.special for token in self.special.tokens)
        )

    def ids(self, text: str, allowed: frozenset[str] = frozenset(), encoder: DropoutEncoder | None = None) -> list[int]:
        """The ids of a valid text; special tokens other than the allowed ones are plain text.

        An `encoder` given here, whose ids differ from time to time, is used without the cache.
        """
        ids: list[int] = []
        first = self._from_first(text)
        get, cache = self.cache.get, self.cache
        for part, token_id in self.special.split(text, allowed, self.normalizer):
            if token_id is None and encoder is not None:
                for piece in self._cut(part, first):
                    ids += encoder.encode_piece(self._to_bytes(piece))
            elif token_id is None:
                pieces = self._cut(part, first)
                for piece in pieces:
                    known = get(piece)
                    ids += self.piece_ids(piece) if known is None else known
                cache.lookups += len(pieces)
            else:
                ids.append(token_id)
            first = 0
        return ids

    def aligned(self, text: str, allowed: frozenset[str] = frozenset()) -> list[PlacedToken]:
        """What `ids` gives, each with the place in `text` that it stands for."""
        placed: list[PlacedToken] = []
        first = self._from_first(text)
        given, at = Aligned.of(text), 0
        for raw, raw_id in self.special.raw_split(text, allowed):
            part = given.part(at, at := at + len(raw))
            if raw_id is not None:
                placed.append(added_token(raw_id, part))
                first = 0
                continue
            ordinary, begin = normalized(self.normalizer, part), 0
            for late, late_id in self.special.late_split(ordinary.text, allowed, self.normalizer):
                stretch = ordinary.part(begin, begin := begin + len(late))
                if late_id is not None:
                    placed.append(added_token(late_id, stretch))
                else:
                    for piece in cut(self.pre_tokenizer, stretch, self._cut(late, first)):
                        known = self.cache.get(piece.text)
                        ids = self.piece_ids(piece.text) if known is None else known
                        placed += place(self.model, ids, piece, self._to_bytes)
                first = 0
        return placed

    def _from_first(self, text: str) -> int:
        """How many characters of the normalized text come from the first one of `text`, for a Metaspace that asks."""
        return 1 if self.normalizer is None or not self._asks_for_first else from_first(self.normalizer, text)

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


def _asks_for_first(pre_tokenizer: PreTokenizer | None) -> bool:
    steps = pre_tokenizer.pretokenizers if isinstance(pre_tokenizer, PreTokenizerSequence) else (pre_tokenizer,)
    return any(
        _asks_for_first(step) if isinstance(step, PreTokenizerSequence) else getattr(step, "prepend_scheme", "") == "first"
        for step in steps
    )


def sole_split(pre_tokenizer: PreTokenizer | Split | None) -> Split | None:
    """The `Split` that a pre-tokenizer comes to where the steps around it change nothing; None if it does more.

    >>> sole_split(ByteLevel(add_prefix_space=False))
    Split('gpt2')
    """
    steps: list[Any] = (
        list(pre_tokenizer.pretokenizers) if isinstance(pre_tokenizer, PreTokenizerSequence) else [pre_tokenizer]
    )
    if steps and isinstance(steps[-1], ByteLevel) and not steps[-1].add_prefix_space:
        if steps[-1].use_regex:
            return Split("gpt2") if len(steps) == 1 else None
        steps.pop()
    if len(steps) != 1:
        return None
    if isinstance(steps[0], SplitPattern):
        return steps[0].sole_split
    return steps[0] if isinstance(steps[0], Split) and steps[0].behavior == "Isolated" else None
