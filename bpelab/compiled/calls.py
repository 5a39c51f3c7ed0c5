"""What Python calls: texts and pieces to ids, given the address of a handle, and a short text straight to a list.

A handle is a table of numbers (`handle.py`): some slots, then the arrays that encoding reads and a cache that it writes
to. `encode_at` and `pieces_at` are C functions, which ctypes calls without the interpreter's lock. `encode_brief` is
given a str and makes the list of ids itself; it keeps the lock, so that all threads share one handle and nothing is
taken or given back. It leaves texts beyond `MOST` characters to the others.

Chapter: Compiled. Cost: `encode_brief` about 0.4 us, and 4 to 10 ns a character of English that was met.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from .cache import Cache
from .encode import MOST_ROWS, Work, encode_pieces, encode_text
from .handle import array_at, call_at, view_of
from .jit import PAD, c_function, entry, inlined
from .python_objects import characters, list_of, nothing, python_object
from .scan import ScanTable
from .tables import ModelTables

MOST = 1 << 13
"""Characters of the longest text that is encoded without letting go of the lock: some 0.1 ms."""
BUSY, LEFT, FUNCTION, BUFFER, OUT, INTS, KNOWN, PARTS = range(8)
"""Slots: whether a handle is in use; where a text was left; addresses; for how many ids ints are kept; the parts."""
INT64, UINT8 = types.int64, types.uint8


class Parts(NamedTuple):
    """What a handle has behind its slots."""

    scan: ScanTable
    tables: ModelTables
    cache: Cache
    work: Work


KINDS: list[Any] = []
"""numba's type of Parts, once there are some: compiling needs it, loading does not."""
parts_at = view_of(lambda: KINDS[0])


@c_function(INT64(*[INT64] * 7))
def encode_at(handle, text, begin, end, final, out, at):
    """`encode_text`: one more than where the ids were left; 0 if the pattern reads too far in vain.

    Where the text was left is in the slot LEFT, -1 where something failed.
    """
    slots = array_at(handle, PARTS, INT64)
    slots[LEFT] = -1
    parts = parts_at(handle + 8 * PARTS)
    place, count = encode_text(
        array_at(text, end + PAD, UINT8), begin, end, final != 0, parts.scan, parts.tables, parts.cache, parts.work,
        array_at(out, at + end - begin + 8, types.uint32), at, MOST_ROWS,
    )  # fmt: skip
    slots[LEFT] = place
    return np.int64(count) + 1


@c_function(INT64(INT64, INT64, INT64, INT64, INT64, INT64, INT64))
def pieces_at(handle, text, begin, ends, count, out, at):
    """`encode_pieces`: one more than where the ids were left, 0 where something failed."""
    parts = parts_at(handle + 8 * PARTS)
    ends_there = array_at(ends, count, INT64)
    end = ends_there[count - 1]
    return 1 + encode_pieces(
        array_at(text, end + PAD, UINT8), begin, ends_there, count,
        array_at(out, at + end - begin + 8, types.uint32), at, parts.tables, parts.cache, parts.work,
    )  # fmt: skip


@inlined
def put_utf8(source, length, width, out):
    """The characters of a str, of `width` bytes each, in UTF-8 into `out`; how many bytes, -1 with a surrogate."""
    one, two, four = (
        array_at(source, length, UINT8), array_at(source, length, types.uint16), array_at(source, length, types.uint32)
    )  # fmt: skip
    at = np.int64(0)
    for place in range(length):
        code = np.int64(one[place]) if width == 1 else np.int64(two[place]) if width == 2 else np.int64(four[place])
        if code < 0x80:
            out[at] = code
            at += 1
            continue
        if code < 0x800:
            out[at] = 0xC0 | (code >> 6)
        else:
            if code < 0x10000:
                if 0xD800 <= code < 0xE000:
                    return np.int64(-1)
                out[at] = 0xE0 | (code >> 12)
            else:
                out[at] = 0xF0 | (code >> 18)
                at += 1
                out[at] = 0x80 | ((code >> 12) & 63)
            at += 1
            out[at] = 0x80 | ((code >> 6) & 63)
        out[at + 1] = 0x80 | (code & 63)
        at += 2
    return at


@inlined
def full(taken, rows, most):
    """Whether a table of the cache should grow."""
    return taken * 2 > rows and rows < most


@entry(python_object(INT64, python_object))
def encode_brief(handle, text):
    """The ids of a str as a list; None for one that is too long or has a surrogate, and if the handle can't serve."""
    source, length, width, ascii_only = characters(text)
    slots = array_at(handle, PARTS, INT64)
    if length > MOST or slots[BUSY]:
        return nothing()
    cache = parts_at(handle + 8 * PARTS).cache
    if full(cache.counts[0], len(cache.narrow), MOST_ROWS) or full(cache.counts[1], len(cache.wide), MOST_ROWS // 4):
        return nothing()
    buffer = array_at(slots[BUFFER], 4 * MOST + PAD, UINT8)
    if ascii_only:
        given, size = array_at(source, length, UINT8), length
        for place in range(length):
            buffer[place] = given[place]
    else:
        size = put_utf8(source, length, width, buffer)
        if size < 0:
            return nothing()
    slots[BUSY] = 1
    count = (
        call_at(slots[FUNCTION], (handle, slots[BUFFER], np.int64(0), size, np.int64(1), slots[OUT], np.int64(0))) - 1
    )
    # Making a list may begin a collection, which may run anything, this kernel too: it finds the handle in use.
    ids = list_of(slots[OUT], count, slots[INTS], slots[KNOWN]) if count >= 0 and slots[LEFT] == size else nothing()
    slots[BUSY] = 0
    return ids


@entry(python_object(INT64, INT64, INT64, INT64))
def list_at(ids, count, ints, known):
    """The list of `count` ids at an address, with the ints at another: see `list_of`."""
    return list_of(ids, count, ints, known)
