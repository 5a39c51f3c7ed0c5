"""All tokens that can't follow a token in the same piece, at once.

Two neighbours are incompatible if, while their merges are undone, two parts meet at the border that have a merge which
ranks before the one just undone (`model/merge_recovery.py`). The parts of the left token that reach the border are its
right part, the right part of that, and so on; those of the right token are its left part and so on. So they are
incompatible if such a merge of a part on the left and one on the right has a lower rank than the merges that made of
these parts something longer. Tokens that begin with the same part are numbered in a row (a preorder of the tree in
which a token's parent is its left part, later merges first). Then the tokens that a merge rules out are an interval.

Cost: for each token on the left a look at the merges of its parts, and at the tokens that they rule out.
"""

from bisect import bisect_left
from collections.abc import Mapping

from .._support.numpy_import import NDArray, np

MAX_KNOWN = 128
"""The most tokens whose successors are kept, each as one byte for each id."""
MAX_RANK = np.iinfo(np.int64).max
NO_MERGES: NDArray[np.int64] = np.zeros((3, 0), np.int64)


class Incompatible:
    """The tokens that can't follow each token, for the merges of `RecoveredMerges`; `size` is the largest id plus 1."""

    def __init__(self, splits: Mapping[int, tuple[int, int]], rank_of: Mapping[int, int], size: int) -> None:
        self._splits, self._rank_of = splits, rank_of
        ordered = sorted(splits, key=rank_of.__getitem__)
        children: dict[int, list[int]] = {}
        for token in ordered:
            children.setdefault(splits[token][0], []).append(token)
        self._number = np.zeros(size, np.int32)
        ends = self._place(children, ordered)
        merges: dict[int, list[tuple[int, int, int]]] = {}
        for token in ordered:
            left, right = splits[token]
            longer = children.get(right, [])
            later = bisect_left(longer, rank_of[token], key=rank_of.__getitem__)
            end = ends[longer[later]] if later < len(longer) else self._number[right] + 1
            merges.setdefault(left, []).append((rank_of[token], int(self._number[right]), int(end)))
        self._merges = {left: np.array(rows, np.int64).T for left, rows in merges.items()}
        self._in_order = np.argsort(self._number)
        self._known: dict[int, NDArray[np.bool_]] = {}

    def after(self, left: int) -> NDArray[np.bool_]:
        """Return for each id whether it can't follow `left`."""
        found = self._known.pop(left, None)
        if found is None:
            if len(self._known) >= MAX_KNOWN:
                del self._known[next(iter(self._known))]
            part, limit, rows = left, MAX_RANK, []
            while True:
                merges = self._merges.get(part, NO_MERGES)
                rows.append(merges[1:, : np.searchsorted(merges[0], limit)])
                if part not in self._splits:
                    break
                limit, part = self._rank_of[part], self._splits[part][1]
            found = np.zeros(len(self._in_order), bool)
            found[self._in_order[in_intervals(*np.concatenate(rows, axis=1))]] = True
        self._known[left] = found
        return found

    def _place(self, children: Mapping[int, list[int]], ordered: list[int]) -> dict[int, int]:
        """Give each id a number, and return for each where the numbers of the tokens end that begin with it."""
        number, stack = 0, sorted(set(range(len(self._number))) - self._splits.keys())
        while stack:
            token = stack.pop()
            self._number[token] = number
            number += 1
            stack += children.get(token, ())
        sizes = dict.fromkeys(range(len(self._number)), 1)
        for token in reversed(ordered):
            sizes[self._splits[token][0]] += sizes[token]
        return {token: int(self._number[token]) + size for token, size in sizes.items()}


def in_intervals(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers in the intervals, one after the other.

    >>> in_intervals(np.array([1, 5]), np.array([3, 6])).tolist()
    [1, 2, 5]
    """
    sizes = ends - starts
    found = np.repeat(starts - np.cumsum(sizes) + sizes, sizes)
    found += np.arange(len(found))
    return found
