"""Pieces that were met, with their ids: two tables without a lock, one pair of them for each thread.

A row of the narrow table is half a line of the processor's cache: a piece of up to 15 bytes, which is its own key, and
up to four ids. What has up to 31 bytes and eight ids goes into the wide table, a line a row. A piece stands within four
rows of the place that its hash gives; where all are taken it takes the place of one of them, so nothing is ever cleared
and the cost of text without repetitions stays flat. Tables begin small, since memory that is touched for the first time
costs more than what is done with it, and grow fourfold when they are half full.

Chapter: Compiled. Cost: one line of memory for a piece that is there.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from .hashing import first_bytes, hash_pair
from .intrinsics import copy_four, load64
from .jit import U64, entry, expanded, inlined
from .large_pages import zeros
from .tables import SHORT, short_key

LONG = 31
KEY = np.uint64((1 << 61) - 1)
"""Of the last number of a key: bytes and, in five bits, their length; the number of ids less one stands above."""
WINDOW = 4
"""Rows in which a piece may stand."""
AHEAD = 32
"""Pieces between asking for a row and looking at it."""
SMALLEST = 1 << 12
"""Rows of the narrow table in the beginning."""
ROWS, COUNTS = types.Array(types.uint64, 2, "C"), types.Array(types.int64, 1, "C")


class Cache(NamedTuple):
    """The tables.

    Attributes:
        narrow: rows of 15 bytes with their length and the number of ids, then four ids of 32 bits.
        wide: rows of 31 bytes likewise, then eight ids.
        counts: rows taken in `narrow`, in `wide`; pieces that were not found.
    """

    narrow: NDArray[np.uint64]
    wide: NDArray[np.uint64]
    counts: NDArray[np.int64]

    @staticmethod
    def of(narrow: int = SMALLEST, wide: int = SMALLEST // 4) -> "Cache":
        """An empty one; the numbers of rows are powers of two."""
        return Cache(aligned_rows(narrow, 4), aligned_rows(wide, 8), np.zeros(3, np.int64))

    def full(self, most: int) -> tuple[bool, bool]:
        """Which of the tables are half full and may grow; `most` is the number of rows that `narrow` may have."""
        narrow, wide, _ = self.counts.tolist()
        return (
            narrow * 2 > len(self.narrow) and len(self.narrow) < most,
            wide * 2 > len(self.wide) and len(self.wide) < most // 4,
        )

    def grown(self, most: int) -> "Cache":
        """The same pieces, those tables that are half full four times as large."""
        narrow, wide = self.full(most)
        larger = aligned_rows(min(4 * len(self.narrow), most), 4) if narrow else self.narrow
        wider = aligned_rows(min(4 * len(self.wide), most // 4), 8) if wide else self.wide
        counts = self.counts * np.array([not narrow, not wide, True])
        move()(self.narrow[: len(self.narrow) * narrow], self.wide[: len(self.wide) * wide], larger, wider, counts)
        return Cache(larger, wider, counts)


def aligned_rows(count: int, width: int) -> NDArray[np.uint64]:
    """Rows of zeros that begin where a line of the processor's cache does."""
    space = zeros((count + WINDOW) * width * 8 + 64)
    skip = -space.ctypes.data % 64
    return space[skip : skip + (count + WINDOW) * width * 8].view(np.uint64).reshape(-1, width)[:count]


@inlined
def wide_key(text, start, count):
    """Up to 31 bytes as four numbers, the length in the last."""
    if count <= SHORT:
        low, high = short_key(text, start, count)
        return low, high & U64(0x00FFFFFFFFFFFFFF), U64(0), U64(count) << U64(56)
    one, two = load64(text, start), load64(text, start + 8)
    if count == 16:
        return one, two, U64(0), U64(count) << U64(56)
    if count <= 24:
        return one, two, first_bytes(text, start + 16, count - 16), U64(count) << U64(56)
    return one, two, load64(text, start + 16), first_bytes(text, start + 24, count - 24) | (U64(count) << U64(56))


@expanded
def narrow_home(low, high, rows):
    return np.int64(hash_pair(low, high) >> U64(32)) & (len(rows) - 1) & ~np.int64(WINDOW - 1)


@expanded
def wide_home(one, two, three, four, rows):
    mixed = hash_pair(hash_pair(one, two), hash_pair(three, four))
    return np.int64(mixed >> U64(32)) & (len(rows) - 1) & ~np.int64(WINDOW - 1)


@expanded
def is_narrow(rows, row, low, high):
    """Whether a row of the narrow table has this key."""
    return ((rows[U64(row), 0] ^ low) | ((rows[U64(row), 1] & KEY) ^ high)) == 0


@expanded
def is_wide(rows, row, one, two, three, four):
    """Whether a row of the wide table has this key."""
    differ = (rows[row, 0] ^ one) | (rows[row, 1] ^ two) | (rows[row, 2] ^ three)
    return (differ | ((rows[row, 3] & KEY) ^ four)) == 0


@expanded
def write_narrow(rows, row, out, at):
    """The ids of a row into `out`, which has room for four; where they end."""
    copy_four(rows, 4 * row + 2, out, at)
    return at + np.int64(rows[U64(row), 1] >> U64(61)) + 1


@expanded
def write_wide(rows, row, out, at):
    """The ids of a row into `out`, which has room for eight; where they end."""
    copy_four(rows, 8 * row + 4, out, at)
    copy_four(rows, 8 * row + 6, out, at + 4)
    return at + np.int64(rows[row, 3] >> U64(61)) + 1


@inlined
def keep_ids(rows, row, out, at, stop):
    """Write ids into the second half of a row, whose key stands in the first."""
    half = rows.shape[1] >> 1
    rows[row, half - 1] |= U64(stop - at - 1) << U64(61)
    for i in range(at, stop, 2):
        second = U64(out[i + 1]) if i + 1 < stop else U64(0)
        rows[row, half + ((i - at) >> 1)] = U64(out[i]) | (second << U64(32))


@inlined
def free_row(rows, home, counts):
    """The row to write to: one of the window that is free, or else one that is given up."""
    for row in range(home, home + WINDOW):
        if rows[row, (rows.shape[1] >> 1) - 1] == 0:
            counts[rows.shape[1] >> 3] += 1
            return np.int64(row)
    return home + (counts[2] & (WINDOW - 1))


@entry(types.void(ROWS, ROWS, ROWS, ROWS, COUNTS))
def move(narrow, wide, new_narrow, new_wide, counts):
    """Copy the rows of two tables into those of another cache."""
    for old in range(len(narrow)):
        if narrow[old, 1]:
            row = free_row(new_narrow, narrow_home(narrow[old, 0], narrow[old, 1] & KEY, new_narrow), counts)
            for column in range(4):
                new_narrow[row, column] = narrow[old, column]
    for old in range(len(wide)):
        if wide[old, 3]:
            home = wide_home(wide[old, 0], wide[old, 1], wide[old, 2], wide[old, 3] & KEY, new_wide)
            row = free_row(new_wide, home, counts)
            for column in range(8):
                new_wide[row, column] = wide[old, column]
