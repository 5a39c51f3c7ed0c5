"""Several patterns, each of which cuts the pieces of the one before; and pieces that are dropped.

Pieces go from level to level in blocks, as an array of their ends; a piece that is dropped has ~end instead. What a
pattern sees is one piece alone, so the piece's end is the text's end to it.

Chapter: Compiled. Cost: a scan of the text for every level.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import PAD, kernel
from .neighbours import PairTable, refine_at_pairs
from .scan import CHUNK, ScanTable, match_at, scan

BLOCK = 1 << 13
"""Pieces that go to the next level at once."""
ALL, MATCHES, GAPS = 0, 1, 2
"""What a level keeps."""

Ends = NDArray[np.int64]


class Level(NamedTuple):
    """A pattern, what is kept of its pieces, and a string without which it cuts nothing ("" where none is known)."""

    table: ScanTable | PairTable
    keep: int
    needs: str


class ReadsInVain(Exception):
    """A pattern reads too far ahead again and again."""


@kernel
def refine(text, begin, ends, done, table, keep, finer):
    """Cut the pieces of `ends` from number `done` on, the first of which is done up to `begin`, into `finer`.

    (pieces that are done, ends in `finer`), the second -1 where that takes too long.
    """
    count = 0
    while done < len(ends) and count < BLOCK:
        end = ends[done]
        if end < 0:
            finer[count] = end
            count, done, begin = count + 1, done + 1, ~end
            continue
        found = scan(text, begin, end, np.int64(1), table, finer[count:])
        if found < 0:
            return done, found
        for number in range(count, count + found):
            stop = finer[number]
            if keep != ALL:
                last, _ = match_at(text, begin, end, table)
                if (last >= 0) != (keep == MATCHES):
                    finer[number] = ~stop
            begin = stop
        count += found
        if begin == end:
            done += 1
    return done, np.int64(count)


def cut(text: NDArray[np.uint8], begin: int, ends: Ends, levels: Sequence[Level]) -> Iterator[tuple[int, Ends]]:
    """The pieces, cut by all levels, in blocks: where the first begins, and the ends, which the next block overwrites.

    Raises ReadsInVain.
    """
    if not levels:
        yield begin, ends
        return
    table, finer, done = levels[0].table, np.empty(BLOCK + CHUNK + 8, np.int64), 0
    while done < len(ends):
        if isinstance(table, PairTable):
            done, count = refine_at_pairs(text, begin, ends, done, table, finer, BLOCK)
        else:
            done, count = refine(text, begin, ends, done, table, levels[0].keep, finer)
        if count < 0:
            raise ReadsInVain
        yield from cut(text, begin, finer[:count], levels[1:])
        last = int(finer[count - 1])
        begin = last if last >= 0 else ~last


@kernel
def copy_kept(text, begin, ends, kept, kept_ends):
    """The bytes of the pieces that aren't dropped, side by side, and their ends; how many pieces."""
    count, at = 0, 0
    for end in ends:
        if end < 0:
            begin = ~end
            continue
        while begin < end:
            kept[at] = text[begin]
            at, begin = at + 1, begin + 1
        kept_ends[count] = at
        count += 1
    return count


def without_dropped(text: NDArray[np.uint8], begin: int, ends: Ends) -> tuple[NDArray[np.uint8], int, Ends]:
    """A text of nothing but the pieces that are kept, where it begins, and their ends."""
    if not len(ends) or ends.min() >= 0:
        return text, begin, ends
    last = int(ends[-1])
    kept = np.empty((last if last >= 0 else ~last) - begin + PAD, np.uint8)
    kept_ends = np.empty(len(ends), np.int64)
    count = copy_kept(text, begin, ends, kept, kept_ends)
    return kept, 0, kept_ends[:count]
