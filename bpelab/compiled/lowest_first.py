"""A short piece to tokens: of all pairs the one whose merge comes first, again and again, found by scanning them.

A token stays where it begins, and a number of 64 bits says where tokens begin: so neighbours are found by counting
zeros, and nothing moves when two tokens become one. A merge and its place are one number, the smallest of which is
looked for 16 places at a time.

What is left to wait for is memory, since pairs stand anywhere in a table of some megabytes. So when a merge becomes
possible, the pairs that it would make with its neighbours are asked for, long before it is known whether it happens.

Chapter: Compiled. Cost: O(n²) for n bytes, but of 16 steps in one; up to some 60 bytes nothing is quicker.
"""

import numpy as np

from .intrinsics import leading_zeros, lowest_of_16, trailing_zeros
from .jit import U64, expanded, inlined
from .tables import NONE, expect_pair, find_pair

ONE, ALL, NO_RANK = U64(1), U64(0xFFFFFFFFFFFFFFFF), np.uint32(0xFFFFFFC0)
"""From NO_RANK on ranks are of pairs that don't merge."""


@expanded
def rank(merge, place):
    """A merge and its place in one number: of two merges the smaller one comes first, of two places the left one."""
    return (np.uint32(merge) << np.uint32(6)) | np.uint32(place)


@expanded
def first_place(places):
    """The lowest of some places; 64 if there are none."""
    return trailing_zeros(places)


@expanded
def last_place(places):
    """The highest of some places; beyond 64, since numbers have no sign here, if there are none."""
    return U64(63) - leading_zeros(places)


@expanded
def expect_neighbours(merge, before, behind, count, tables, tokens):
    """Ask for the pairs that a merge would make with the tokens at two places, as far as these are below `count`."""
    if merge != NONE and tables.same_made:
        if before < count:
            expect_pair(tables.pairs, tables.pair_shift, tokens[before], merge)
        if behind < count:
            expect_pair(tables.pairs, tables.pair_shift, merge, tokens[behind])


@expanded
def rank_of(left, right, before, behind, count, tables, tokens):
    """The rank of the pair at two places, between two others."""
    merge = find_pair(tables.pairs, tables.pair_shift, tokens[left], tokens[right])
    expect_neighbours(merge, before, behind, count, tables, tokens)
    return rank(merge, left)


@inlined
def by_scanning(text, start, count, out, at, tables, tokens, ranks):
    """Tokens of `count` bytes, 2 to 64, into `out` from `at` on; where they end."""
    for number in range(count):
        tokens[number] = tables.byte_tokens[text[start + number]]
    for number in range(count - 1):
        i = U64(number)  # an index without a sign is looked up as it is
        merge = tables.byte_pairs[(U64(text[start + number]) << U64(8)) | U64(text[start + number + 1])]
        expect_neighbours(merge, i - ONE, i + U64(2), U64(count), tables, tokens)
        ranks[i] = rank(merge, i)
    return merge_lowest_first(count, out, at, tables, tokens, ranks)


@inlined
def merge_lowest_first(count, out, at, tables, tokens, ranks):
    """`tokens`, 2 to 64, whose pairs have these `ranks`, merged into `out` from `at` on; where they end."""
    size = U64(count)
    alive = ALL >> (U64(64) - size)  # the places at which a token begins
    for i in range(count - 1, (count + 15) & ~15):
        ranks[i] = NONE
    while True:
        best = lowest_of_16(ranks, 0)
        for i in range(16, count, 16):
            best = min(best, lowest_of_16(ranks, i))
        if best >= NO_RANK:
            break
        place, merge = U64(best & np.uint32(63)), best >> np.uint32(6)
        before, behind = alive & ((ONE << place) - ONE), alive & (ALL << place)
        behind &= behind - ONE  # without the lowest
        gone = first_place(behind)
        behind &= behind - ONE
        alive ^= ONE << gone
        tokens[place] = merge if tables.same_made else tables.made[merge]
        ranks[gone] = ranks[place] = NONE
        left, right = last_place(before), first_place(behind)
        if right < size:
            ranks[place] = rank_of(place, right, left, first_place(behind & (behind - ONE)), size, tables, tokens)
        if left < size:
            ranks[left] = rank_of(left, place, last_place(before ^ (ONE << left)), right, size, tables, tokens)
    while alive:
        out[at] = tokens[first_place(alive)]
        alive &= alive - ONE
        at += 1
    return at
