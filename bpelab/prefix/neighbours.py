"""Neighbours: which tokens a piece's encoding can have, and which two of them side by side.

A sequence of tokens is the encoding of its bytes if every two neighbours are the encoding of theirs. The reason: until
a merge crosses a border, the merges on its two sides happen in the same order as if these two tokens were alone, so the
first that would cross it in the whole text would also cross it there.

For tokens that rank after their parts, two look-ups for each part tell (`model/merge_recovery.py`). A merge that ranks
before its own parts matters only to bytes that contain the token it makes; those are encoded to see.

Cost: a few look-ups for two tokens; with NumPy, for one token and all that may follow it at once.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from .._support.lazy_property import cached_property
from ..core.tokenizer import Tokenizer
from ..encoders import encode_function
from ..model.bpe import BPEModel
from ..model.merge_recovery import compatible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .incompatible import Incompatible


class Neighbours:
    """The tokens of a tokenizer's pieces. Those in `apart`, which are single bytes of characters, fit to all.

    Attributes:
        reachable: the ids of the tokens that are the encoding of their own bytes.

    >>> from bpelab import BPETokenizer
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    >>> lo, w = tokenizer.token_to_id("lo"), tokenizer.token_to_id("w")
    >>> Neighbours(tokenizer).fits(lo, w), Neighbours(tokenizer).fits(w, lo)
    (False, True)
    """

    def __init__(self, tokenizer: Tokenizer, apart: Collection[int] = ()) -> None:
        model = tokenizer.model
        recovered_merges, self._apart = model.recovered_merges, frozenset(apart)
        self._tokens, self._encode = model.tokens, encode_function("auto", _merging(model))
        self._splits, self._rank_of = recovered_merges.splits, recovered_merges.rank_of
        self._merged = {pair: self._rank_of[token] for token, pair in self._splits.items()}
        self._doubtful = _early_tokens(model) if recovered_merges.early else ()
        unreachable = set(recovered_merges.unreachable)
        self.reachable = {token for token in self._tokens if self._is_reachable(token, token in unreachable)}

    def fits(self, left: int, right: int) -> bool:
        """Return whether merging the bytes of two tokens ends with these two."""
        if left in self._apart or right in self._apart:
            return True
        together = self._tokens[left] + self._tokens[right]
        if any(doubtful in together for doubtful in self._doubtful):
            return self._encode(together) == [left, right]
        return compatible(left, right, self._splits, self._rank_of, self._merged)

    def fitting(self, left: int, tokens: "NDArray[np.integer[Any]]") -> "NDArray[np.bool_]":
        """Return for each of `tokens` whether it fits after `left`."""
        if left in self._apart:
            return tokens >= 0
        fits: NDArray[np.bool_] = ~self._incompatible.after(left)[tokens]
        if self._doubtful:
            spelled = self._tokens[left]
            ends = tuple(
                doubtful[size:]
                for doubtful in self._doubtful
                for size in range(1, len(doubtful))
                if spelled.endswith(doubtful[:size])
            )
            every = any(doubtful in spelled for doubtful in self._doubtful)
            for at, token in enumerate(tokens.tolist()):
                if every or token in self._with_doubtful or (ends and self._tokens[token].startswith(ends)):
                    fits[at] = self.fits(left, token)
        return fits

    @cached_property
    def _incompatible(self) -> "Incompatible":
        from .incompatible import Incompatible

        return Incompatible(self._splits, self._rank_of, max(self._tokens) + 1)

    @cached_property
    def _with_doubtful(self) -> frozenset[int]:
        """Return the tokens that contain one of the doubtful."""
        return frozenset(
            token for token, spelled in self._tokens.items() if any(doubtful in spelled for doubtful in self._doubtful)
        )

    def _is_reachable(self, token: int, unreachable: bool) -> bool:
        spelled = self._tokens[token]
        if any(doubtful in spelled for doubtful in self._doubtful):
            return self._encode(spelled) == [token]
        return not unreachable


def _merging(model: BPEModel) -> BPEModel:
    """Return a model that merges in every piece, also in those that are a token."""
    if not model.ignore_merges:
        return model
    return BPEModel(model.tokens, model.merges, model.alphabet, initial_symbols=model.initial_symbols)


def _early_tokens(model: BPEModel) -> tuple[bytes, ...]:
    """Return the bytes of the tokens that rank before their own parts."""
    splits, rank_of = model.recovered_merges.splits, model.recovered_merges.rank_of
    return tuple(
        model.tokens[token]
        for token, parts in splits.items()
        if any(rank_of.get(part, -1) > rank_of[token] for part in parts)
    )
