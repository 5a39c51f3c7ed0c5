"""The bytes of many tokens, end to end: eight bytes at a time, each token from one row of 16 bytes.

A token of up to 15 bytes stands in its row with its length behind it; of a longer one the row says where its bytes are.
One pass over the ids adds up the lengths and finds ids that don't exist, a second one copies; what it writes beyond a
token's end the next token overwrites.

Chapter: Compiled. Cost: 3 ns a token, and 6 more where ids come in a list.
"""

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import types

from .handle import array_at
from .intrinsics import load64, store64
from .jit import PAD, U64, c_function, foreign

INT64, U64_TYPE = types.int64, types.uint64
INLINE = 15
"""Bytes of the longest token that stands in its row."""
LONG, HOLE = 16, 255
"""In the place of the length: the row holds a place and a length instead; there is no such token."""


@c_function(INT64(*[INT64] * 4))
def measure(ids_at, count_of_ids, rows_at, count_of_rows):
    """Twice the bytes of all tokens, and one more if 0 or 1 is among the ids; -1 if one doesn't exist."""
    ids, rows = array_at(ids_at, count_of_ids, INT64), array_at(rows_at, 2 * count_of_rows, U64_TYPE)
    total, low = np.int64(0), np.int64(0)
    for i in range(count_of_ids):
        token = ids[i]
        if token < 0 or token >= count_of_rows:
            return np.int64(-1)
        low |= np.int64(token < 2)
        entry = rows[2 * token + 1]
        count = entry >> U64(56)
        if count <= U64(INLINE):
            total += np.int64(count)
        elif count == U64(LONG):
            total += np.int64(entry & U64(0x00FFFFFFFFFFFFFF))
        else:
            return np.int64(-1)
    return 2 * total + low


@c_function(INT64(*[INT64] * 5))
def copy(ids_at, count_of_ids, rows_at, content_at, out_at):
    """The bytes of tokens that `measure` found to exist; up to 16 more are written behind them."""
    ids, rows = array_at(ids_at, count_of_ids, INT64), array_at(rows_at, count_of_ids, U64_TYPE)
    content, out = array_at(content_at, 8, types.uint8), array_at(out_at, 8, types.uint8)
    at = np.int64(0)
    for i in range(count_of_ids):
        first, entry = rows[2 * ids[i]], rows[2 * ids[i] + 1]
        count = np.int64(entry >> U64(56))
        if count <= INLINE:
            store64(out, at, first)
            store64(out, at + 8, entry)
        else:
            start, count = np.int64(first), np.int64(entry & U64(0x00FFFFFFFFFFFFFF))
            for done in range(0, count, 8):
                store64(out, at + done, load64(content, start + done))
        at += count
    return at


class Gather:
    """Tokens as rows.

    >>> gather = Gather({0: b"a", 1: b"bc", 3: b"d" * 20})
    >>> bytes(gather.join([1, 0, 3])), gather.join([2]), gather.join([True])
    (b'bcadddddddddddddddddddd', None, None)
    """

    def __init__(self, tokens: Mapping[int, bytes]) -> None:
        contents = list(tokens.values())
        ids = np.fromiter(tokens, np.int64, len(tokens))
        counts = np.fromiter(map(len, contents), np.int64, len(tokens))
        long = np.flatnonzero(counts > INLINE)
        written = np.frombuffer(b"".join([token[:INLINE].ljust(16, b"\0") for token in contents]), np.uint8)
        lines = written.reshape(-1, 16).copy()
        lines[:, INLINE] = counts.clip(max=LONG)
        rows = lines.view(np.uint64)
        rows[long, 0] = np.cumsum(counts[long]) - counts[long]
        rows[long, 1] = counts[long] | LONG << 56
        self._rows = np.full((int(ids.max()) + 1, 2), np.iinfo(np.uint64).max)
        self._rows[ids] = rows
        self._content = np.frombuffer(b"".join([contents[place] for place in long.tolist()]) + bytes(PAD), np.uint8)

    @staticmethod
    def serves(tokens: Mapping[int, bytes]) -> bool:
        """Whether the ids lie close enough together for a row each."""
        return max(tokens) < 4 * len(tokens) + (1 << 16)

    def join(self, ids: Any) -> memoryview | None:
        """The bytes of `ids`, a list or an array; None where one is no id, or is none of this vocabulary."""
        listed = type(ids) is list
        if listed:
            try:
                numbers = np.frombuffer(array("Q", ids), np.int64) if ids else np.empty(0, np.int64)
            except (TypeError, OverflowError):
                return None
        elif type(ids) in (np.ndarray, np.memmap) and ids.ndim == 1 and ids.dtype.kind in "iu":
            numbers = np.ascontiguousarray(ids, np.int64)
        else:
            return None
        given = numbers.ctypes.data, len(numbers), self._rows.ctypes.data
        size, low = divmod(foreign(measure, 4)(*given, len(self._rows)), 2)
        if size < 0:
            return None
        if low and listed:  # a bool is a number to `array`
            places = np.flatnonzero(numbers < 2).tolist()
            if bool in set(map(type, map(ids.__getitem__, places))):
                return None
        out = np.empty(size + PAD, np.uint8)
        foreign(copy, 5)(*given, self._content.ctypes.data, out.ctypes.data)
        return out[:size].data
