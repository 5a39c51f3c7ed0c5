"""A short text straight to a list of ids, and ids to a list: kernels that make Python's objects, so they hold its lock.

`encode_brief` is given the address of a handle (`parts.py`) and a str. Since it keeps the lock, all threads share one
handle and nothing is taken or given back. Texts beyond `MOST` characters are left to `encode_at`, which ctypes calls
without the lock.

Chapter: Compiled. Cost: `encode_brief` about 0.4 us, and 4 to 10 ns a character of English that was met.
"""

import numpy as np
from numba import types

from .encode import full
from .handle import array_at, call_at
from .jit import PAD, entry, expanded
from .parts import BUFFER, BUSY, ENCODE, INT64, INTS, KNOWN, LEFT, OUT, PARTS, UINT8, parts_at
from .python_objects import characters, list_of, nothing, python_object

MOST = 1 << 13
"""Characters of the longest text that is encoded without letting go of the lock: some 0.1 ms."""


@expanded
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


@entry(python_object(INT64, python_object))
def encode_brief(handle, text):
    """The ids of a str as a list; None for one that is too long or has a surrogate, and if the handle can't serve."""
    source, length, width, ascii_only = characters(text)
    slots = array_at(handle, PARTS, INT64)
    if length > MOST or slots[BUSY]:
        return nothing()
    if full(parts_at(handle + 8 * PARTS).cache):
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
    count = call_at(slots[ENCODE], (handle, slots[BUFFER], np.int64(0), size, np.int64(1), slots[OUT], np.int64(0))) - 1
    # Making a list may begin a collection, which may run anything, this kernel too: it finds the handle in use.
    ids = list_of(slots[OUT], count, slots[INTS], slots[KNOWN]) if count >= 0 and slots[LEFT] == size else nothing()
    slots[BUSY] = 0
    return ids


@entry(python_object(INT64, INT64, INT64, INT64))
def list_at(ids, count, ints, known):
    """The list of `count` ids at an address, with the ints at another: see `list_of`."""
    return list_of(ids, count, ints, known)
