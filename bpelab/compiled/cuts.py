"""Places inside a piece where no token can stand across, so that what lies before and behind merges alone.

Words of some scripts, and sentences of those that write no spaces, are long pieces that never come again, made of short
parts that come all the time. A merge across a place would make a token that holds the bytes around it. So for every
token and every place within it, the one or two bytes before and behind are entered into a set; where a text has none of
them, it may be cut without changing an id. The set is an array of bits by hash: a chance hit costs a cut and no more.

Chapter: Compiled. Cost: four look-ups in half a megabyte for a character that is not ASCII, none for one that is.
"""

import numpy as np
from numpy.typing import NDArray

from .hashing import has_bit, set_bit, spread
from .jit import U64, expanded, inlined, kernel

BITS_LOG2 = 22
"""Of the set: two or three per cent of them are set for 200,000 tokens."""


@expanded
def around(text, place, start, end):
    """The two bytes before and the two behind a place, as one number; zero beyond `start` and `end`."""
    two = U64(text[place - 1]) << U64(8) | U64(text[place]) << U64(16)
    if place - 2 >= start:
        two |= U64(text[place - 2])
    if place + 1 < end:
        two |= U64(text[place + 1]) << U64(24)
    return two


@expanded
def bit(context, before, behind):
    """Which bit of the set stands for so many bytes before and behind a place."""
    if before == 1:
        context &= U64(0xFFFFFF00)
    if behind == 1:
        context &= U64(0x00FFFFFF)
    key = context | U64(2 * before + behind) << U64(32)
    return np.int64(spread(key) >> U64(64 - BITS_LOG2))


@kernel
def fill_crossings(content, starts, crossings):
    """Enter all places within all tokens."""
    for token in range(len(starts) - 1):
        start, end = np.int64(starts[token]), np.int64(starts[token + 1])
        for place in range(start + 1, end):
            before, behind = min(place - start, 2), min(end - place, 2)
            at = bit(around(content, place, start, end), before, behind)
            set_bit(crossings, at)


@inlined
def may_cross(text, place, start, end, crossings):
    """Whether a token may stand across a place of the piece text[start:end]."""
    context = around(text, place, start, end)
    longer_before, longer_behind = place - 2 >= start, place + 1 < end
    return (
        has_bit(crossings, bit(context, 1, 1))
        or (longer_behind and has_bit(crossings, bit(context, 1, 2)))
        or (longer_before and has_bit(crossings, bit(context, 2, 1)))
        or (longer_before and longer_behind and has_bit(crossings, bit(context, 2, 2)))
    )


@inlined
def next_cut(text, start, end, crossings):
    """The end of the first part of text[start:end] that merges alone; `end` if that is all of it.

    Only the beginnings of characters beside one that is not ASCII are looked at: English has hardly a place to cut.
    """
    if len(crossings) == 0:
        return end
    place = start + 1
    while place < end:
        byte = text[place]
        if (byte >= 0xC0 or (byte < 0x80 and text[place - 1] >= 0x80)) and not may_cross(
            text, place, start, end, crossings
        ):
            return place
        place += 1
    return end


def crossings_of(content: NDArray[np.uint8], starts: NDArray[np.int32]) -> NDArray[np.uint8]:
    """The set for tokens whose bytes stand end to end."""
    crossings = np.zeros(1 << (BITS_LOG2 - 3), np.uint8)
    fill_crossings(content, starts, crossings)
    return crossings
