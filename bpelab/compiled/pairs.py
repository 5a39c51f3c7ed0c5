"""Pairs of tokens while merges are learned: their counts, the places where they stand, and the most frequent one.

A pair is there from the merge that makes one of its tokens, for nothing but that can make it more frequent, and only if
it is frequent enough then. All its places are known at that moment too, so they are a run in one array. The heap is
that of `trainers/incremental.py`: an entry that says too much is put right when it surfaces.

Chapter: Incremental training. Cost: one place in memory for a count, and one more in passing for a place.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .hashing import spread
from .jit import U64, expanded, inlined, kernel
from .tables import power_of_two

KEY, COUNT, START, NUMBER = 0, 1, 2, 3
ROWS, PLACES, HEAP = 0, 1, 2


class Pairs(NamedTuple):
    """The pairs.

    Attributes:
        rows: a hash table, a power of two of rows: left << 32 | right, count, where the run of places begins, how many
            places it has. A row is free while it has none.
        places: the runs. A place may be out of date.
        heap: rows of count, key.
        used: how many rows, places and entries of the heap there are.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.int32]
    heap: NDArray[np.int64]
    used: NDArray[np.int64]

    @staticmethod
    def of(pairs: int, places: int) -> "Pairs":
        """Room for so many."""
        rows, heap = np.zeros((power_of_two(2 * pairs), 4), np.int64), np.empty((pairs, 2), np.int64)
        return Pairs(rows, np.empty(places, np.int32), heap, np.zeros(3, np.int64))

    def with_room(self, pairs: int, places: int, least: int) -> "Pairs":
        """The same with room for more, without the rows of pairs that have become too rare."""
        rows = self.rows
        if int(self.used[ROWS]) + pairs > len(rows) // 2:
            alive = int(np.count_nonzero(rows[:, COUNT] >= least))
            rows = np.zeros((power_of_two(4 * (alive + pairs)), 4), np.int64)
            move_rows(self.rows, rows, least)
            self.used[ROWS] = alive
        longer_places = _longer(self.places, int(self.used[PLACES]) + places)
        return Pairs(rows, longer_places, _longer(self.heap, int(self.used[HEAP]) + pairs), self.used)


def _longer(array: NDArray[Any], least: int) -> NDArray[Any]:
    """The array, or a copy with room for half as much again."""
    if least <= len(array):
        return array
    longer = np.empty((least + least // 2, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


@inlined
def find_row(rows, key):
    """The row of a pair, or the free one where it belongs."""
    mask = len(rows) - 1
    row = np.int64(spread(U64(key)) >> U64(32)) & mask
    while rows[row, NUMBER] != 0 and rows[row, KEY] != key:
        row = (row + 1) & mask
    return row


@expanded
def has_room(pairs, more, places):
    used = pairs.used
    return (
        2 * (used[ROWS] + more) <= len(pairs.rows)
        and used[PLACES] + places <= len(pairs.places)
        and used[HEAP] + more <= len(pairs.heap)
    )


@expanded
def wins(count, key, other, other_key):
    """Whether a pair is merged before another: it is more frequent, or as frequent and its tokens are smaller."""
    return count > other or (count == other and key < other_key)


@inlined
def sink(heap, size, count, key):
    """Put an entry in the place of the top one."""
    at, child = 0, 1
    while child < size:
        if child + 1 < size and wins(heap[child + 1, 0], heap[child + 1, 1], heap[child, 0], heap[child, 1]):
            child += 1
        if wins(count, key, heap[child, 0], heap[child, 1]):
            break
        heap[at, 0], heap[at, 1] = heap[child, 0], heap[child, 1]
        at, child = child, 2 * child + 1
    heap[at, 0], heap[at, 1] = count, key


@inlined
def drop_top(pairs):
    heap, used = pairs.heap, pairs.used
    used[HEAP] -= 1
    last = used[HEAP]
    sink(heap, last, heap[last, 0], heap[last, 1])


@inlined
def add_pair(pairs, key, count, number):
    """A new pair, onto the heap too; where its run of `number` places begins, which are still to be written."""
    rows, heap, used = pairs.rows, pairs.heap, pairs.used
    row, start = find_row(rows, key), used[PLACES]
    rows[row, KEY], rows[row, COUNT], rows[row, START], rows[row, NUMBER] = key, count, start, number
    at = used[HEAP]
    while at > 0 and wins(count, key, heap[(at - 1) >> 1, 0], heap[(at - 1) >> 1, 1]):
        heap[at, 0], heap[at, 1] = heap[(at - 1) >> 1, 0], heap[(at - 1) >> 1, 1]
        at = (at - 1) >> 1
    heap[at, 0], heap[at, 1] = count, key
    used[ROWS] += 1
    used[PLACES] += number
    used[HEAP] += 1
    return start


@kernel
def move_rows(old, new, least):
    """Copy the rows of pairs that may still be merged."""
    for row in range(len(old)):
        if old[row, COUNT] >= least:
            at = find_row(new, old[row, KEY])
            for column in range(4):
                new[at, column] = old[row, column]
