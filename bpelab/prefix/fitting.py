"""All the tokens that can follow one token, at once: `compatible` (`model/merge_recovery.py`) for arrays, with NumPy.

The left token's parts along its right edge are few. Each has a row with the ranks of its merges, by the other token.
All right tokens are undone in step, each along its left edge.

Cost: a few operations on arrays of the vocabulary's size for each part.
"""

from collections.abc import Mapping

from .._support.numpy_import import NDArray, np

NEVER = np.iinfo(np.int64).max


class Fitting:
    """Which tokens fit after a token; the arguments are those of `compatible`."""

    def __init__(
        self, splits: Mapping[int, tuple[int, int]], rank_of: Mapping[int, int], merged: Mapping[tuple[int, int], int]
    ) -> None:
        size = 1 + max((token for pair in splits.items() for token in (pair[0], *pair[1])), default=0)
        self._splits, self._rank = splits, np.full(size, -1, np.int64)
        self._left_part = np.arange(size)
        for token, (left, _) in splits.items():
            self._rank[token], self._left_part[token] = rank_of[token], left
        self._merges: dict[int, dict[int, int]] = {}
        for (left, right), rank in merged.items():
            self._merges.setdefault(left, {})[right] = rank

    def after(self, left: int, tokens: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each of `tokens` whether it fits after `left`.

        >>> splits = {256: (97, 98), 257: (256, 97)}  # ab, aba
        >>> fitting = Fitting(splits, {256: 0, 257: 1}, {(97, 98): 0, (256, 97): 1})
        >>> fitting.after(97, np.array([97, 98, 256])).tolist()
        [True, False, True]
        """
        size = len(self._rank)
        edge = [left]
        while edge[-1] in self._splits:
            edge.append(self._splits[edge[-1]][1])
        rows = np.full((len(edge), size), NEVER, np.int64)
        for row, part in zip(rows, edge):
            if merges := self._merges.get(part):
                row[list(merges)] = list(merges.values())
        # ranks are doubled: an undone right token's limit lies between two ranks
        ranks = np.array([self._rank[part] if part < size else -1 for part in edge])
        right = np.where(tokens < size, tokens, 0)
        at, limit = np.zeros(len(tokens), np.int64), np.full(len(tokens), NEVER, np.int64)
        fits, open_ = np.ones(len(tokens), bool), np.flatnonzero(tokens < size)
        while len(open_):
            level, token = at[open_], right[open_]
            merge = rows[level, token]
            apart = (merge == NEVER) | (merge * 2 >= limit[open_])
            fits[open_[~apart]] = False
            open_, level, token = open_[apart], level[apart], token[apart]
            of_left, of_right = ranks[level], self._rank[token]
            undo_left = of_left > of_right
            undo_right = ~undo_left & (of_right >= 0)
            limit[open_[undo_left]] = of_left[undo_left] * 2
            at[open_[undo_left]] += 1
            limit[open_[undo_right]] = of_right[undo_right] * 2 + 1
            right[open_[undo_right]] = self._left_part[token[undo_right]]
            open_ = open_[undo_left | undo_right]
        return fits
