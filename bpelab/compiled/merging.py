"""One piece of bytes to tokens: as it is, by scanning for the lowest merge, or, where it is long, by other ways.

These are exact backtracking, sweeps where that goes back too often or the model has no trie, and a heap at last.

Chapter: Compiled. Cost: a scan takes O(n²) steps of a nanosecond, which is quickest up to some 60 bytes; the heap
O(n log n).
"""

import numpy as np

from .backtracking import by_backtracking
from .handle import array_at
from .intrinsics import leading_zeros, lowest_of_16, trailing_zeros
from .jit import PAD, U64, c_function, expanded, inlined, kernel
from .parts import INT64, PARTS, SCANNED, UINT8, UINT32, parts_at
from .sweeping import by_sweeping, pop, push
from .tables import NONE, expect_pair, find_pair, find_token
from .units import initial_tokens

ALL, NO_RANK = U64(0xFFFFFFFFFFFFFFFF), np.uint32(0xFFFFFFC0)


@expanded
def rank(merge, place):
    """A merge and its place in one number: of two merges the smaller one comes first, of two places the left one."""
    return (np.uint32(merge) << np.uint32(6)) | np.uint32(place)


@inlined
def by_scanning(text, start, count, out, at, tables, tokens, ranks):
    """Tokens of `count` bytes, at least 2, into `out` from `at` on; where they end."""
    for i in range(count - 1):
        pair = (U64(text[start + i]) << U64(8)) | U64(text[start + i + 1])
        ranks[i] = rank(tables.byte_pairs[pair], i)
    for i in range(count):
        tokens[i] = tables.byte_tokens[text[start + i]]
    return merge_scanned(count, out, at, tables, tokens, ranks)


@inlined
def merge_scanned(count, out, at, tables, tokens, ranks):
    """`tokens`, whose pairs have these `ranks`, merged into `out` from `at` on; where they end.

    A token stays where it begins. `alive` has a bit for each place where one does, so that neighbours are found by
    counting zeros, and the lowest rank is that of 16 places at once.
    """
    regular = tables.same_made
    alive = ALL >> U64(64 - count)
    for i in range(count - 1, (count + 15) & ~15):
        ranks[i] = NONE
    if regular:
        for i in range(count - 1):
            merge = ranks[i] >> np.uint32(6)
            if ranks[i] < NO_RANK:
                if i + 2 < count:
                    expect_pair(tables.pairs, tables.pair_shift, merge, tokens[i + 2])
                if i > 0:
                    expect_pair(tables.pairs, tables.pair_shift, tokens[i - 1], merge)
    while True:
        best = lowest_of_16(ranks, 0)
        for i in range(16, count, 16):
            best = min(best, lowest_of_16(ranks, i))
        if best >= NO_RANK:
            break
        place = U64(best & np.uint32(63))
        behind = alive & (ALL << place)
        behind &= behind - U64(1)
        gone, beyond = trailing_zeros(behind), behind & (behind - U64(1))
        alive ^= U64(1) << gone
        ranks[gone] = NONE
        made = best >> np.uint32(6)
        if not regular:
            made = tables.made[made]
        tokens[place] = made
        ranks[place] = NONE
        before = alive & ((U64(1) << place) - U64(1))
        if beyond:
            after, rest = trailing_zeros(beyond), beyond & (beyond - U64(1))
            merge = find_pair(tables.pairs, tables.pair_shift, made, tokens[after])
            ranks[place] = rank(merge, place)
            if regular and merge != NONE:
                if rest:
                    expect_pair(tables.pairs, tables.pair_shift, merge, tokens[trailing_zeros(rest)])
                if before:
                    expect_pair(tables.pairs, tables.pair_shift, tokens[U64(63) - leading_zeros(before)], merge)
        if before:
            left = U64(63) - leading_zeros(before)
            merge = find_pair(tables.pairs, tables.pair_shift, tokens[left], made)
            ranks[left] = rank(merge, left)
            if regular and merge != NONE:
                if beyond:
                    expect_pair(tables.pairs, tables.pair_shift, merge, tokens[trailing_zeros(beyond)])
                before ^= U64(1) << left
                if before:
                    expect_pair(tables.pairs, tables.pair_shift, tokens[U64(63) - leading_zeros(before)], merge)
    while alive:
        out[at] = tokens[trailing_zeros(alive)]
        alive &= alive - U64(1)
        at += 1
    return at


@kernel
def merge_on_heap(out, at, count, tables):
    """Merge the `count` tokens that `out` has from `at` on; where they end.

    An entry is (merge, place); it is stale if the tokens there merge otherwise by now.
    """
    tokens = out[at : at + count]
    following = np.empty(count, np.int32)
    before = np.empty(count, np.int32)
    heap = np.empty(2 * count, np.uint64)  # a merge takes one entry and adds two at most
    size = np.int64(0)
    for i in range(count):
        following[i], before[i] = i + 1, i - 1
        if i + 1 < count:
            merge = find_pair(tables.pairs, tables.pair_shift, tokens[i], tokens[i + 1])
            if merge != NONE:
                size = push(heap, size, (U64(merge) << U64(32)) | U64(i))
    while size:
        entry = heap[0]
        size = pop(heap, size)
        merge, place = np.uint32(entry >> U64(32)), np.int64(entry & U64(0xFFFFFFFF))
        right = np.int64(following[place])
        if tokens[place] == NONE or right >= count:
            continue
        if find_pair(tables.pairs, tables.pair_shift, tokens[place], tokens[right]) != merge:
            continue
        tokens[place], tokens[right] = tables.made[merge], NONE
        behind = np.int64(following[right])
        following[place] = behind
        if behind < count:
            before[behind] = place
            new = find_pair(tables.pairs, tables.pair_shift, tokens[place], tokens[behind])
            if new != NONE:
                size = push(heap, size, (U64(new) << U64(32)) | U64(place))
        left = np.int64(before[place])
        if left >= 0:
            new = find_pair(tables.pairs, tables.pair_shift, tokens[left], tokens[place])
            if new != NONE:
                size = push(heap, size, (U64(new) << U64(32)) | U64(left))
    place = np.int64(0)
    while place < count:
        out[at] = tokens[place]  # never behind the place where it stands
        at += 1
        place = np.int64(following[place])
    return at


@c_function(INT64(*[INT64] * 6))
def merge_at(handle, text_at, start, end, out_at, at):
    """The ids of a piece, which is not empty, into the output from `at` on; one more than where they end."""
    tables, work = parts_at(handle + 8 * PARTS).tables, parts_at(handle + 8 * PARTS).work
    text, out = array_at(text_at, end + PAD, UINT8), array_at(out_at, at + end - start + 8, UINT32)
    in_bytes = len(tables.unit_tokens) == 0
    if tables.whole or (in_bytes and end - start == 1):
        token = find_token(text, start, end, tables)
        if token != NONE:
            out[at] = token if tables.same_ids else tables.ids[token]
            return at + 2
    if in_bytes and end - start <= SCANNED:
        stop = by_scanning(text, start, end - start, out, at, tables, work.tokens, work.ranks)
    else:
        stop, complete = initial_tokens(text, start, end, out, at, tables)
        count = stop - at
        if count <= SCANNED:
            for i in range(count):
                work.tokens[i] = out[at + i]
            for i in range(count - 1):
                merge = find_pair(tables.pairs, tables.pair_shift, work.tokens[i], work.tokens[i + 1])
                work.ranks[i] = rank(merge, i)
            stop = merge_scanned(count, out, at, tables, work.tokens, work.ranks)
        else:
            stop = np.int64(-1)
            if complete and len(tables.trie):
                stop = by_backtracking(text, start, end, out, at, tables)
                if stop < 0:
                    initial_tokens(text, start, end, out, at, tables)
            if stop < 0:
                stop = by_sweeping(out, at, count, tables)
            if stop < 0:
                stop = merge_on_heap(out, at, count, tables)
    if not tables.same_ids:
        for i in range(at, stop):
            out[i] = tables.ids[out[i]]
    return stop + 1
