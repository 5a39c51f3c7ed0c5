"""Bytes as numbers, and numbers mixed so that their upper bits serve as places in a table.

Chapter: Compiled. Cost: a few instructions for eight bytes. Source: Knuth's multiplicative hashing; the constants are
the golden ratio's and those of MurmurHash3's finalizer.
"""

import numpy as np

from .intrinsics import load64
from .jit import expanded, inlined

U64 = np.uint64


MIX, GOLDEN = U64(0xFF51AFD7ED558CCD), U64(0x9E3779B97F4A7C15)


@expanded
def first_bytes(text, start, count):
    """The `count` bytes from `start`, 1 to 8 of them, as a number."""
    return load64(text, start) & (U64(0xFFFFFFFFFFFFFFFF) >> U64(64 - 8 * count))


@expanded
def spread(key):
    """A number of 64 bits, mixed into one whose upper bits are good (Knuth's multiplicative hashing)."""
    return key * GOLDEN


@expanded
def hash_pair(low, high):
    """Two numbers of 64 bits, mixed into one whose upper bits are good."""
    return spread(low ^ (high * MIX))


@inlined
def hash_bytes(text, start, end):
    """The bytes from start to end, mixed into a number, eight at a time."""
    mixed = spread(U64(end - start))
    while start + 8 <= end:
        mixed = (mixed ^ load64(text, start)) * MIX
        mixed ^= mixed >> U64(32)
        start += 8
    if start < end:
        mixed = (mixed ^ first_bytes(text, start, end - start)) * MIX
        mixed ^= mixed >> U64(32)
    return spread(mixed)


@expanded
def has_bit(bits, at):
    """Whether a bit is set in an array of bytes."""
    return (bits[at >> 3] >> (at & 7)) & 1 != 0


@expanded
def set_bit(bits, at):
    bits[at >> 3] |= np.uint8(1 << (at & 7))


@inlined
def same_bytes(one, at, other, there, count):
    """Whether two arrays have the same `count` bytes at two places."""
    done = 0
    while done + 8 <= count:
        if load64(one, at + done) != load64(other, there + done):
            return False
        done += 8
    return done == count or first_bytes(one, at + done, count - done) == first_bytes(other, there + done, count - done)
