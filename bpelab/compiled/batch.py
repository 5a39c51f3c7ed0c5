"""Many texts in one call of a kernel: their bytes end to end, and where each begins and ends.

To the pattern each text ends where it ends. An added token that was found in a text stands between its stretches as a
stretch of no bytes whose id is given. Chapter: Compiled. Cost: that of `encode.py`, and a third of a microsecond a
text.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .encode import MOST_ROWS, encode_text
from .jit import PAD, kernel

if TYPE_CHECKING:
    from .engine import Engine, Ids

Offsets = NDArray[np.int64]


@kernel
def encode_stretches(text, bounds, given, number, place, table, tables, cache, work, out, at, stops, most):
    """The ids of the stretches from `number` on, that one from `place` on, into `out` from `at` on; ends into `stops`.

    (stretch, place, end of the ids) where it was left: at the end of all, or before where the cache should grow; a
    negative place if the pattern reads too far ahead in vain in that stretch.
    """
    while number < len(given):
        if given[number] >= 0:
            out[at] = given[number]
            at += 1
        else:
            end = bounds[number + 1]
            place, count = encode_text(text, place, end, table, tables, cache, work, out, at, most)
            if count < 0:
                return number, np.int64(-1), at
            at = count
            if place < end:
                return number, place, at
        number += 1
        stops[number] = at
    return number, place, at


def encode_many(
    engine: "Engine", parts: Sequence[bytes], given: Sequence[int] | None, slowly: Callable[[int], "Ids"]
) -> tuple["Ids", Offsets]:
    """The ids of stretches end to end, and where those of each begin, with the end of all behind.

    Args:
        parts: the bytes of each in UTF-8.
        given: for each the id that it is, or -1; None for -1 everywhere.
        slowly: gives the ids of a stretch, by its number, in which the pattern reads too far ahead.
    """
    count = len(parts)
    bounds = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, count), out=bounds[1:])
    text = np.frombuffer(b"".join([*parts, bytes(PAD)]), np.uint8)
    numbers = np.full(count, -1, np.int64) if given is None else np.array(given, np.int64)
    out = np.empty(int(bounds[-1]) + count + 8, np.uint32)
    stops = np.zeros(count + 1, np.int64)
    number = place = at = 0
    cache, work = engine._take()
    while number < count:
        number, place, at = encode_stretches(
            text, bounds, numbers, number, place, engine.sole, engine._tables, cache, work, out, at, stops, MOST_ROWS
        )
        if place < 0:
            ids = slowly(number)
            at = int(stops[number]) + len(ids)
            out[at - len(ids) : at] = ids
            number += 1
            stops[number], place = at, int(bounds[number])
        if any(cache.full(MOST_ROWS)):
            cache = cache.grown(MOST_ROWS)
    engine._free.append((cache, work))
    return out[:at], stops
