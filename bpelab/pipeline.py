"""From text to ids: added tokens, normalizer, pre-tokenizer, encoder, in Hugging Face's order.

Added tokens are found first; each stretch between them is normalized, searched for the tokens that live in normalized
text, cut into pieces, and every piece goes through the encoder or comes from the cache.

Chapter: Matching GPT-2 and GPT-4. Cost: linear on real text, O(n log n) at worst.
"""

from collections.abc import Callable
from typing import Any

from .byte_alphabet import from_alphabet, to_alphabet
from .cache import PieceCache
from .encoders import make_encoder
from .encoders.dropout import DropoutEncoder
from .model import BPEModel
from .normalizers import Normalizer
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
        self._cut = self._choose_cut()
        self._to_bytes = self._choose_bytes()

    def _choose_cut(self) -> Callable[[str, bool], list[str]]:
        if (split := self.split) is not None:
            return lambda text, first: split.split(text)
        if (pre_tokenizer := self.pre_tokenizer) is not None:
            return pre_tokenizer.split
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
        first = True
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
            first = False
        return ids

    def piece_ids(self, piece: str) -> list[int]:
        """The ids of a piece, worked out and kept."""
        ids = self.encode_piece(self._to_bytes(piece))
        self.cache.misses += 1
        self.cache.put(piece, ids)
        return ids

    def pieces(self, text: str) -> list[str]:
        """What a text is cut into after the normalizer, added tokens that are not special included."""
        pieces: list[str] = []
        for part, token_id in self.special.split(text, frozenset(), self.normalizer):
            pieces += [part] if token_id is not None else self._cut(part, not pieces)
        return pieces


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
