"""How often each pre-token occurs: pieces from the scanner, counted in a hash table.

A row of the table is half a line of the processor's cache. A piece of up to 15 bytes is its own key; for a longer one
the row holds hash and length, and its bytes lie in an arena. As in `encode.py` the rows of all pieces of a chunk are
worked out first, and asked for some pieces before they are looked at.

Chapter: Incremental training. Cost: some 6 ns a byte, most of it the scanner's; memory for the distinct pre-tokens, 64
to 128 bytes each.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cache import AHEAD, aligned_rows
from .hashing import hash_bytes, hash_pair, same_bytes
from .intrinsics import prefetch
from .jit import PAD, U64, expanded, kernel
from .scan import CHUNK, scan
from .tables import SHORT, short_key

LOW, HIGH, COUNT, PLACE = 0, 1, 2, 3
LONG = U64(0xFF) << U64(56)
"""In place of the length of a short piece."""
ROWS, ARENA, BYTES = 0, 1, 2
SMALLEST = 1 << 14
"""Rows in the beginning."""


class Tally(NamedTuple):
    """Distinct pieces and their counts.

    Attributes:
        rows: the table, a power of two of them: low bytes, high bytes with the length, count; for a long piece its hash
            and length, count, place in the arena. A row is free while its second number is 0.
        arena: the bytes of long pieces.
        used: rows that are taken, bytes of the arena that are, bytes of all distinct pieces.
    """

    rows: NDArray[np.uint64]
    arena: NDArray[np.uint8]
    used: NDArray[np.int64]

    @staticmethod
    def of() -> "Tally":
        """An empty one."""
        return Tally(aligned_rows(SMALLEST, 4), np.empty(1 << 16, np.uint8), np.zeros(3, np.int64))

    def with_room(self, pieces: int, size: int) -> "Tally":
        """The same counts, in larger arrays if `pieces` more of `size` bytes in all might not fit."""
        rows, arena = self.rows, self.arena
        while int(self.used[ROWS]) + pieces > len(rows) // 2:
            old, rows = rows, aligned_rows(2 * len(rows), 4)
            move_rows(old, rows)
        if int(self.used[ARENA]) + size + PAD > len(arena):
            arena = np.empty(2 * len(arena) + size, np.uint8)
            arena[: len(self.arena)] = self.arena
        return Tally(rows, arena, self.used)


class Work(NamedTuple):
    """Room for the pieces of a chunk: their ends, counts, keys and rows."""

    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    keys: NDArray[np.uint64]
    homes: NDArray[np.int64]

    @staticmethod
    def of() -> "Work":
        """New room, for pieces that count once each."""
        size = CHUNK + 8
        return Work(
            np.empty(size, np.int64), np.ones(size, np.int64), np.empty((size, 2), np.uint64), np.empty(size, np.int64)
        )


@expanded
def home(low, high, rows):
    return np.int64(hash_pair(low, high) >> U64(32)) & (len(rows) - 1)


@kernel
def move_rows(old, new):
    """Copy the rows of a table into a larger one."""
    for row in range(len(old)):
        if old[row, HIGH] != 0:
            at = home(old[row, LOW], old[row, HIGH], new)
            while new[at, HIGH] != 0:
                at = (at + 1) & (len(new) - 1)
            for column in range(4):
                new[at, column] = old[row, column]


@kernel
def count_pieces(text, begin, ends, counts, number, tally, work):
    """Add `counts` of `number` pieces, the first of which begins at `begin`. There has to be room for them."""
    rows, arena, used, keys, homes = tally.rows, tally.arena, tally.used, work.keys, work.homes
    start = np.int64(begin)
    for piece in range(number):
        length = ends[piece] - start
        if length <= SHORT:
            low, high = short_key(text, start, length)
        else:
            low, high = hash_bytes(text, start, ends[piece]), LONG | U64(length)
        keys[piece, 0], keys[piece, 1], homes[piece] = low, high, home(low, high, rows)
        start = ends[piece]
    for piece in range(min(AHEAD, number)):
        prefetch(rows, homes[piece] * 4)
    start = np.int64(begin)
    for piece in range(number):
        if piece + AHEAD < number:
            prefetch(rows, homes[piece + AHEAD] * 4)
        low, high, row, length = keys[piece, 0], keys[piece, 1], homes[piece], ends[piece] - start
        while rows[row, HIGH] != 0 and (
            rows[row, HIGH] != high
            or rows[row, LOW] != low
            or (high >= LONG and not same_bytes(arena, np.int64(rows[row, PLACE]), text, start, length))
        ):
            row = (row + 1) & (len(rows) - 1)
        if rows[row, HIGH] == 0:
            rows[row, LOW], rows[row, HIGH] = low, high
            used[ROWS] += 1
            used[BYTES] += length
            if high >= LONG:
                rows[row, PLACE] = U64(used[ARENA])
                for at in range(length):
                    arena[used[ARENA] + at] = text[start + at]
                used[ARENA] += length
        rows[row, COUNT] += U64(counts[piece])
        start = ends[piece]


@kernel
def count_texts(text, begin, stops, number, table, tally, work, chunks):
    """Count the pieces of texts that lie end to end and end at `stops`, from `begin` in the text `number` on.

    (Where it was left, in which text, how many bytes the arena has to take next). It is left before its end when there
    is no room, after so many `chunks`, or, with -1 bytes, where the scanner reads in vain and Python has to cut.
    """
    while number < len(stops):
        if begin == stops[number]:
            number += 1
            continue
        if chunks == 0 or tally.used[ROWS] + len(work.ends) > len(tally.rows) // 2:
            break
        found = scan(text, begin, stops[number], np.int64(1), table, work.ends)
        if found < 0:
            return begin, number, -1
        end = work.ends[found - 1]
        if tally.used[ARENA] + end - begin + PAD > len(tally.arena):
            return begin, number, end - begin
        count_pieces(text, begin, work.ends, work.counts, found, tally, work)
        begin = end
        chunks -= 1
    return begin, number, 0


@kernel
def list_pieces(tally, content, ends, counts):
    """The distinct pieces, end to end, where each ends, and their counts."""
    at, number = 0, 0
    for row in range(len(tally.rows)):
        high = tally.rows[row, HIGH]
        if high == 0:
            continue
        if high >= LONG:
            place = np.int64(tally.rows[row, PLACE])
            for _ in range(np.int64(high ^ LONG)):
                content[at] = tally.arena[place]
                at, place = at + 1, place + 1
        else:
            low = tally.rows[row, LOW]
            for byte in range(np.int64(high >> U64(56))):
                content[at] = np.uint8(((low if byte < 8 else high) >> U64(8 * (byte & 7))) & U64(255))
                at += 1
        ends[number], counts[number] = at, np.int64(tally.rows[row, COUNT])
        number += 1
