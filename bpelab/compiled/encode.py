"""Text to ids: pieces from the scanner, their ids from the cache, and what it doesn't have by merging.

Chapter: Compiled. Cost: 10 ns a byte on English that was met, 20 on what was not.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cache import (
    AHEAD,
    LONG,
    WINDOW,
    free_row,
    is_narrow,
    is_wide,
    keep_ids,
    narrow_home,
    wide_home,
    wide_key,
    write_narrow,
    write_wide,
)
from .cuts import next_cut
from .jit import U64, borrowed, inlined, kernel, prefetch
from .merging import SCANNED, encode_piece
from .scan import CHUNK, scan
from .tables import SHORT, short_key

MOST_ROWS = 1 << 19
"""Rows of the narrow table in the end: 16 MB, and 8 MB for the wide one."""


class Work(NamedTuple):
    """Room for the pieces of a chunk: their ends, keys and rows; and for the tokens and merges of one piece."""

    ends: NDArray[np.int64]
    keys: NDArray[np.uint64]
    homes: NDArray[np.int64]
    tokens: NDArray[np.uint32]
    ranks: NDArray[np.uint32]

    @staticmethod
    def of() -> "Work":
        """New room, which belongs to one thread."""
        size = CHUNK + 8
        return Work(
            np.empty(size, np.int64), np.empty((size, 2), np.uint64), np.empty(size, np.int64),
            np.empty(SCANNED, np.uint32), np.empty(SCANNED, np.uint32),
        )  # fmt: skip


@kernel
def keep(text, begin, end, out, at, stop, cache):
    """Put a piece into the cache with its ids, out[at:stop], if there is a row for so many; one at least."""
    length = end - begin
    if stop == at:
        return
    if length <= SHORT and stop - at <= 4:
        rows = cache.narrow
        low, high = short_key(text, begin, length)
        row = free_row(rows, narrow_home(low, high, rows), 1, cache.counts, 0)
        rows[row, 0], rows[row, 1] = low, high
        keep_ids(rows, row, 1, out, at, stop)
    elif length <= LONG and stop - at <= 8:
        rows = cache.wide
        one, two, three, four = wide_key(text, begin, length)
        row = free_row(rows, wide_home(one, two, three, four, rows), 3, cache.counts, 1)
        rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3] = one, two, three, four
        keep_ids(rows, row, 3, out, at, stop)


@inlined
def find_narrow(rows, home, low, high):
    """The row of a key, from `home` on, or -1."""
    for row in range(home, home + WINDOW):
        if is_narrow(rows, row, low, high):
            return row
    return -1


@inlined
def encode_missed(text, begin, end, out, at, tables, cache, tokens, ranks):
    """The ids of a piece that the narrow table doesn't have: part by part, and kept as a whole."""
    length, first = end - begin, at
    if length <= LONG:
        one, two, three, four = wide_key(text, begin, length)
        home = wide_home(one, two, three, four, cache.wide)
        for row in range(home, home + WINDOW):
            if is_wide(cache.wide, row, one, two, three, four):
                return write_wide(cache.wide, row, out, at)
    cache.counts[2] += 1
    start = begin
    while start < end:
        row = -1
        stop = next_cut(text, start, end, tables.crossings)
        if stop - start <= SHORT and stop - start < length:
            low, high = short_key(text, start, stop - start)
            row = find_narrow(cache.narrow, narrow_home(low, high, cache.narrow), low, high)
        if row >= 0:
            at = write_narrow(cache.narrow, row, out, at)
        else:
            before = at
            at = encode_piece(text, start, stop, out, at, tables, tokens, ranks)
            if stop - start < length:
                keep(text, start, stop, out, before, at, cache)
        start = stop
    keep(text, begin, end, out, first, at, cache)
    return at


@kernel
def encode_pieces(text, begin, ends, count, out, at, tables, cache, work):
    """The ids of `count` pieces, the first of which begins at `begin`, into `out` from `at` on; where they end.

    The rows of all pieces are worked out first, and asked for some pieces before they are looked at.
    """
    tables, cache, work = borrowed(tables), borrowed(cache), borrowed(work)
    rows, keys, homes = cache.narrow, work.keys, work.homes
    start = begin
    for number in range(count):
        here, end = U64(number), ends[U64(number)]
        if end - start <= SHORT:
            low, high = short_key(text, start, end - start)
            keys[here, 0], keys[here, 1] = low, high
            homes[here] = narrow_home(low, high, rows)
        else:
            homes[here] = 0
            keys[here, 1] = U64(1)  # no row has it
        start = end
    for number in range(min(AHEAD, count)):
        prefetch(rows, homes[number] * 4)
    for number in range(count):
        if number + AHEAD < count:
            prefetch(rows, homes[U64(number + AHEAD)] * 4)
        here = U64(number)
        end = ends[here]
        row = find_narrow(rows, homes[here], keys[here, 0], keys[here, 1])
        if row >= 0:
            at = write_narrow(rows, row, out, at)
        else:
            at = encode_missed(text, begin, end, out, at, tables, cache, work.tokens, work.ranks)
        begin = end
    return at


@kernel
def encode_text(text, begin, end, final, table, tables, cache, work, out, at, most):
    """The ids of text[begin:end] into `out` from `at` on; (where the text, where the ids were left).

    It is left before its end when a table of the cache should grow, up to `most` rows, and where what follows may
    change a piece, unless this is the end for the pattern too, `final`. The second is -1 if it reads too far in vain.
    """
    table, tables, cache, work = borrowed(table), borrowed(tables), borrowed(cache), borrowed(work)
    ends = work.ends
    while begin < end:
        count = scan(text, begin, end, final, table, ends)
        if count <= 0:
            return begin, at if count == 0 else np.int64(-1)
        at = encode_pieces(text, begin, ends, count, out, at, tables, cache, work)
        begin = ends[count - 1]
        narrow, wide = len(cache.narrow), len(cache.wide)
        if (cache.counts[0] * 2 > narrow and narrow < most) or (cache.counts[1] * 2 > wide and wide * 4 < most):
            break
    return begin, at
