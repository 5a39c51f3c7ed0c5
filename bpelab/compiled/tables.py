"""A model's tokens and merges as flat arrays: what kernels read, and never change.

Tokens get dense numbers in the order of their ranks, the alphabet first, so that of two merges the one that ranks
before has the lower number. Pairs stand in a hash table whose entry is one number of 64 bits, so a look-up touches one
place in memory; pairs of bytes in a table of their own without hashing. Where each token is made by one merge
(`recover.py`), a trie of the tokens and the pair of each serve the exact backtracking of long pieces.

Cost: a tenth of a second for 100,000 tokens, 20 to 60 bytes a token. Chapter: Compiled.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .hashing import hash_bytes, hash_pair, same_bytes, spread
from .intrinsics import load64, prefetch
from .jit import U64, expanded, inlined, kernel

BITS = 21
"""Of a token's number: tables hold two million tokens and four million merges."""
NONE = np.uint32(0xFFFFFFFF)
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
SHORT = 15
"""Bytes of the longest piece that is its own key."""
LOW = np.array([(1 << 8 * min(count, 8)) - 1 for count in range(16)], np.uint64)
HIGH = np.array([(1 << 8 * max(count - 8, 0)) - 1 for count in range(16)], np.uint64)
"""Masks of the first eight bytes and of those behind, for a number of bytes."""


class ModelTables(NamedTuple):
    """Arrays; T tokens, M merges.

    Attributes:
        ids: (T,) the id of a token.
        same_ids: whether that is its number, so that nobody has to look.
        content, starts: the bytes of all tokens, and where each begins, (T + 1,).
        byte_tokens: (256,) the token of a byte; of units of another kind, the one that spells it, or NONE.
        byte_pairs: (65536,) the merge of two bytes, or NONE.
        pairs: merges by pair: (left << 21 | right) << 22 | merge, or EMPTY; a power of two of them.
        pair_shift: 64 less the number of bits of an index into `pairs`.
        made: (M,) the token that a merge makes.
        same_made: whether that has the merge's number.
        whole: whether a piece that is a token is that token.
        short: tokens of up to 15 bytes by their bytes: rows of low bytes, high bytes with the length, token.
        long: tokens beyond, a token or NONE at the place of their hash.
        halves: (T, 2) the tokens that one is made of, itself twice if of none; empty where one token has several.
        trie: rows of base, owner, token: a double array; empty likewise.
        shorter: (T,) the longest token that one begins with, or -1.
        crossings: what no cut may cut: see `cuts.py`; empty where parts of a piece don't merge as pieces of their own.
        unit_index, unit_tokens: the tokens of units; see `units.unit_tables`. Empty where units are the 256 bytes.
        characters: whether units are characters.
        unknown: the token of what is missing and can't be spelled, or NONE.
        fuse: whether several such units in a row become one token.
    """

    ids: NDArray[np.uint32]
    same_ids: bool
    content: NDArray[np.uint8]
    starts: NDArray[np.int32]
    byte_tokens: NDArray[np.uint32]
    byte_pairs: NDArray[np.uint32]
    pairs: NDArray[np.uint64]
    pair_shift: np.uint64
    made: NDArray[np.uint32]
    same_made: bool
    whole: bool
    short: NDArray[np.uint64]
    long: NDArray[np.uint32]
    halves: NDArray[np.int32]
    trie: NDArray[np.int32]
    shorter: NDArray[np.int32]
    crossings: NDArray[np.uint8]
    unit_index: NDArray[np.uint16]
    unit_tokens: NDArray[np.uint32]
    characters: bool
    unknown: np.uint32
    fuse: bool


def power_of_two(least: int) -> int:
    """The smallest power of two that is at least `least`, and 16."""
    return 1 << max(4, (least - 1).bit_length())


@inlined
def find_pair(pairs, shift, left, right):
    """The merge of two tokens, or NONE."""
    key = (U64(left) << U64(BITS)) | U64(right)
    mask = len(pairs) - 1
    at = np.int64(spread(key) >> shift)
    while True:
        entry = pairs[U64(at)]
        if entry >> U64(22) == key:
            return np.uint32(entry & U64(0x3FFFFF))
        if entry == EMPTY:
            return NONE
        at = (at + 1) & mask


@expanded
def expect_pair(pairs, shift, left, right):
    """Ask for the memory of a pair."""
    prefetch(pairs, np.int64(spread((U64(left) << U64(BITS)) | U64(right)) >> shift))


@expanded
def put_pair(pairs, shift, left, right, merge):
    key = (U64(left) << U64(BITS)) | U64(right)
    at = np.int64(spread(key) >> shift)
    while pairs[at] != EMPTY:
        at = (at + 1) & (len(pairs) - 1)
    pairs[at] = (key << U64(22)) | U64(merge)


@kernel
def fill_pairs(lefts, rights, merges, pairs, shift):
    for number in range(len(lefts)):
        put_pair(pairs, shift, lefts[number], rights[number], merges[number])


@kernel
def fill_byte_pairs(byte_tokens, pairs, shift, byte_pairs):
    for left in range(256):
        for right in range(256):
            byte_pairs[left * 256 + right] = find_pair(pairs, shift, byte_tokens[left], byte_tokens[right])


@expanded
def short_key(text, start, count):
    """Up to 15 bytes as two numbers, the length in the second; never two zeros."""
    low, high = load64(text, start) & LOW[U64(count)], load64(text, start + 8) & HIGH[U64(count)]
    return low, high | (U64(count) << U64(56))


@kernel
def fill_tokens(content, starts, short, long):
    for token in range(len(starts) - 1):
        start, end = np.int64(starts[token]), np.int64(starts[token + 1])
        if end - start <= SHORT:
            low, high = short_key(content, start, end - start)
            at = np.int64(hash_pair(low, high) >> U64(32)) & (len(short) - 1)
            while short[at, 1] != 0:
                at = (at + 1) & (len(short) - 1)
            short[at, 0], short[at, 1], short[at, 2] = low, high, token
        else:
            at = np.int64(hash_bytes(content, start, end) >> U64(32)) & (len(long) - 1)
            while long[at] != NONE:
                at = (at + 1) & (len(long) - 1)
            long[at] = token


@expanded
def expect_token(text, start, count, tables):
    """Ask for the memory of a token of up to 15 bytes."""
    low, high = short_key(text, start, count)
    prefetch(tables.short, (np.int64(hash_pair(low, high) >> U64(32)) & (len(tables.short) - 1)) * 3)


@inlined
def find_token(text, start, end, tables):
    """The token that is text[start:end], or NONE."""
    if end - start <= SHORT:
        short = tables.short
        low, high = short_key(text, start, end - start)
        at = np.int64(hash_pair(low, high) >> U64(32)) & (len(short) - 1)
        while short[at, 1] != 0:
            if short[at, 0] == low and short[at, 1] == high:
                return np.uint32(short[at, 2])
            at = (at + 1) & (len(short) - 1)
        return NONE
    long = tables.long
    at = np.int64(hash_bytes(text, start, end) >> U64(32)) & (len(long) - 1)
    while long[at] != NONE:
        token = np.int64(long[at])
        there = np.int64(tables.starts[token])
        if tables.starts[token + 1] - there == end - start and same_bytes(
            tables.content, there, text, start, end - start
        ):
            return np.uint32(token)
        at = (at + 1) & (len(long) - 1)
    return NONE
