"""Many texts in one call of a kernel: their bytes end to end, and where each begins and ends.

To the pattern each text ends where it ends. An added token that was found in a text stands between its stretches as a
stretch of no bytes whose id is given. Chapter: Compiled. Cost: that of `encode.py`, and a third of a microsecond a
text.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .handle import array_at, call_at
from .jit import c_function, foreign, writable
from .parts import ENCODE, INT64, LEFT, PARTS, UINT32

if TYPE_CHECKING:
    from .engine import Engine, Ids

Offsets = NDArray[np.int64]


@c_function(INT64(*[INT64] * 8))
def stretches_at(handle, text, bounds, given, count, out, stops, state):
    """The ids of the stretches from `state[0]` on, that one from `state[1]` on, into `out` from `state[2]` on.

    Where those of each end goes into `stops`, and into `state` where it was left: at the end of all, or before, where
    the cache should grow. 1 if the pattern reads too far ahead in vain in the
    stretch where it was left, -1 if something failed, else 0.
    """
    slots, left = array_at(handle, PARTS, INT64), array_at(state, 3, INT64)
    ends, after = array_at(bounds, count + 1, INT64), array_at(stops, count + 1, INT64)
    ids = array_at(given, count, INT64)
    number, place, at = left[0], left[1], left[2]
    found = np.int64(0)
    while number < count:
        if ids[number] >= 0:
            array_at(out, at + 1, UINT32)[at] = ids[number]
            at += 1
        else:
            end = ends[number + 1]
            stop = call_at(slots[ENCODE], (handle, text, place, end, np.int64(1), out, at)) - 1
            if stop < 0:
                found = np.int64(-1 if slots[LEFT] < 0 else 1)
                break
            place, at = slots[LEFT], stop
            if place < end:
                break
        number += 1
        after[number] = at
    left[0], left[1], left[2] = number, place, at
    return found


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
    text = writable(*parts)
    numbers = np.full(count, -1, np.int64) if given is None else np.array(given, np.int64)
    out = np.empty(int(bounds[-1]) + count + 8, np.uint32)
    stops = np.zeros(count + 1, np.int64)
    state = np.zeros(3, np.int64)
    read, written = ([array.ctypes.data for array in some] for some in ((text, bounds, numbers), (out, stops, state)))
    handle, stretches = engine._take(), foreign(stretches_at, 8)
    while state[0] < count:
        trouble = stretches(handle.address, *read, count, *written)
        if trouble < 0:
            raise MemoryError("there is no memory left to encode the texts")
        if trouble:
            number = int(state[0])
            ids, at = slowly(number), int(stops[number])
            out[at : at + len(ids)] = ids
            stops[number + 1] = at + len(ids)
            state[:] = number + 1, bounds[number + 1], stops[number + 1]
        handle.grow()
    engine._free.append(handle)
    return out[: state[2]], stops
