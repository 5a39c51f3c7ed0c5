"""Places inside a piece where no token can stand across, so that what lies before and behind merges alone.

Words of some scripts, and sentences of those that write no spaces, are long pieces that never come again, made of short
parts that come all the time. A merge across a place would make a token that holds what stands around it. So for every
token and every place within it, the one or two characters before and behind are entered into a set; where a text has
none of them, it may be cut without changing an id. Of tokens that begin or end inside a character it is one or two
bytes. The set is an array of bits by hash: a chance hit costs a cut and no more.

Chapter: Compiled. Cost: up to eight look-ups in half a megabyte for a character that isn't ASCII, none for one that is.
"""

import numpy as np
from numpy.typing import NDArray

from .hashing import first_bytes, has_bit, hash_pair, set_bit, spread
from .jit import U64, inlined, kernel

BITS_LOG2 = 22
"""Of the set: two or three per cent of them are set for 200,000 tokens."""
WHOLE, BYTES = U64(0), U64(4)
"""Kinds of entries: of characters, plus 1 for two before and 2 for two behind; of bytes."""


@inlined
def char_before(text, place, start):
    """Where the character that ends at `place` begins: at the last byte that begins one, four bytes before at most."""
    at = place - 1
    while at > max(start, place - 4) and text[at] & 0xC0 == 0x80:
        at -= 1
    return at


@inlined
def char_behind(text, place):
    """Where the character that begins at `place` ends, as its first byte says."""
    first = text[place]
    return place + (1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4)


@inlined
def bit(text, begin, place, end, kind):
    """Which bit of the set stands for the bytes from `begin` to a place and from there to `end`, 8 at most each."""
    before, behind = first_bytes(text, begin, place - begin), first_bytes(text, place, end - place)
    return np.int64((hash_pair(before, behind) ^ spread(kind)) >> U64(64 - BITS_LOG2))


@kernel
def fill_crossings(content, starts, crossings):
    """Enter all places within all tokens at which a character begins, but for those between two of ASCII."""
    for token in range(len(starts) - 1):
        start, end = np.int64(starts[token]), np.int64(starts[token + 1])
        for place in range(start + 1, end):
            if content[place] & 0xC0 == 0x80 or (content[place] < 0x80 and content[place - 1] < 0x80):
                continue
            begin, stop, kind = char_before(content, place, start), char_behind(content, place), WHOLE
            if begin > start and content[begin] & 0xC0 != 0x80:
                begin, kind = char_before(content, begin, start), kind + U64(1)
            if stop < end:
                stop, kind = char_behind(content, stop), kind + U64(2)
            whole = content[begin] & 0xC0 != 0x80 and stop <= end
            if not whole:
                begin, stop, kind = max(start, place - 2), min(end, place + 2), BYTES
            set_bit(crossings, bit(content, begin, place, stop, kind))


@inlined
def may_cross(text, place, start, end, crossings):
    """Whether a token may stand across a place of the piece text[start:end] at which a character begins."""
    near, behind = char_before(text, place, start), min(end, char_behind(text, place))
    far = char_before(text, near, start) if near > start else near
    beyond = min(end, char_behind(text, behind)) if behind < end else behind
    for before in range(2):
        for after in range(2):
            if (before == 0 or far < near) and (after == 0 or beyond > behind):
                begin, stop = far if before else near, beyond if after else behind
                if has_bit(crossings, bit(text, begin, place, stop, WHOLE + U64(before + 2 * after))):
                    return True
    for begin in range(max(start, place - 2), place):
        for stop in range(place + 1, min(end, place + 2) + 1):
            if has_bit(crossings, bit(text, begin, place, stop, BYTES)):
                return True
    return False


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
