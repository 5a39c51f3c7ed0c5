"""Text to ids: pieces from the scanner, their ids from the cache, and what it doesn't have by merging.

Chapter: Compiled. Cost: 4 to 5 ns a byte on English that was met, 6 to 9 on what was not.
"""

import numpy as np

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
from .handle import array_at, call_at
from .intrinsics import prefetch
from .jit import PAD, U64, c_function, expanded, inlined
from .parts import INT64, LEFT, MERGE, MISSED, PARTS, PIECES, UINT8, UINT32, parts_at
from .scan import scan
from .tables import SHORT, expect_token, short_key

MOST_ROWS = 1 << 19
"""Rows of the narrow table in the end: 16 MB, and 8 MB for the wide one."""


@inlined
def keep(text, begin, end, out, at, stop, cache):
    """Put a piece into the cache with its ids, out[at:stop], if there is a row for so many; one at least."""
    length = end - begin
    if stop == at:
        return
    if length <= SHORT and stop - at <= 4:
        rows = cache.narrow
        low, high = short_key(text, begin, length)
        row = free_row(rows, narrow_home(low, high, rows), cache.counts)
        rows[row, 0], rows[row, 1] = low, high
        keep_ids(rows, row, out, at, stop)
    elif length <= LONG and stop - at <= 8:
        rows = cache.wide
        one, two, three, four = wide_key(text, begin, length)
        row = free_row(rows, wide_home(one, two, three, four, rows), cache.counts)
        rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3] = one, two, three, four
        keep_ids(rows, row, out, at, stop)


@expanded
def find_narrow(rows, home, low, high):
    """The row of a key, from `home` on, or -1."""
    for row in range(home, home + WINDOW):
        if is_narrow(rows, row, low, high):
            return row
    return -1


@c_function(INT64(*[INT64] * 6))
def missed_at(handle, text_at, begin, end, out_at, at):
    """The ids of a piece that the narrow table doesn't have: part by part, and kept as a whole."""
    tables, cache = parts_at(handle + 8 * PARTS).tables, parts_at(handle + 8 * PARTS).cache
    text, out = array_at(text_at, end + PAD, UINT8), array_at(out_at, at + end - begin + 8, UINT32)
    length, first = end - begin, at
    if length <= SHORT:
        expect_token(text, begin, length, tables)
    if length <= LONG:
        one, two, three, four = wide_key(text, begin, length)
        home = wide_home(one, two, three, four, cache.wide)
        for row in range(home, home + WINDOW):
            if is_wide(cache.wide, row, one, two, three, four):
                return write_wide(cache.wide, row, out, at) + 1
    cache.counts[2] += 1
    start, merge = begin, array_at(handle, PARTS, INT64)[MERGE]
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
            at = call_at(merge, (handle, text_at, start, stop, out_at, at)) - 1
            if at < 0:
                return np.int64(0)
            if stop - start < length:
                keep(text, start, stop, out, before, at, cache)
        start = stop
    keep(text, begin, end, out, first, at, cache)
    return at + 1


@c_function(INT64(*[INT64] * 7))
def pieces_at(handle, text_at, begin, ends_at, count, out_at, at):
    """The ids of `count` pieces, the first of which begins at `begin`, into the output from `at` on.

    The rows of all pieces are worked out first, and asked for some pieces before they are looked at.
    """
    cache, work = parts_at(handle + 8 * PARTS).cache, parts_at(handle + 8 * PARTS).work
    rows, wide = cache.narrow, cache.wide
    keys, homes, ends = work.keys, work.homes, array_at(ends_at, count, INT64)
    last, missed = ends[count - 1], array_at(handle, PARTS, INT64)[MISSED]
    text, out = array_at(text_at, last + PAD, UINT8), array_at(out_at, at + last - begin + 8, UINT32)
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
            if end - start <= LONG:
                one, two, three, four = wide_key(text, start, end - start)
                prefetch(wide, wide_home(one, two, three, four, wide) * 8)
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
            at = call_at(missed, (handle, text_at, begin, end, out_at, at)) - 1
            if at < 0:
                return np.int64(0)
        begin = end
    return at + 1


@expanded
def full(cache):
    """Whether a table of the cache should grow."""
    counts, narrow, wide = cache.counts, len(cache.narrow), len(cache.wide)
    return (counts[0] * 2 > narrow and narrow < MOST_ROWS) or (counts[1] * 2 > wide and wide < MOST_ROWS // 4)


@c_function(INT64(*[INT64] * 7))
def encode_at(handle, text_at, begin, end, final, out_at, at):
    """The ids of text[begin:end] into the output from `at` on; where the text was left is in the slot LEFT.

    It is left before its end when a table of the cache should grow, and where what follows may change a piece, unless
    this is the end for the pattern too, `final`. 0 with the text left at -1 if something failed, with the text left
    elsewhere if the pattern reads too far in vain.
    """
    slots, parts = array_at(handle, PARTS, INT64), parts_at(handle + 8 * PARTS)
    text, cache, ends = array_at(text_at, end + PAD, UINT8), parts.cache, parts.work.ends
    slots[LEFT] = -1
    left = begin
    while left < end:
        count = scan(text, left, end, final, parts.scan, ends)
        if count <= 0:
            slots[LEFT] = left
            return at + 1 if count == 0 else np.int64(0)
        at = call_at(slots[PIECES], (handle, text_at, left, np.int64(ends.ctypes.data), count, out_at, at)) - 1
        if at < 0:
            return np.int64(0)
        left = ends[count - 1]
        if full(cache):
            break
    slots[LEFT] = left
    return at + 1
