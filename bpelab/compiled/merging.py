"""One piece of bytes to tokens: as it is, by scanning for the lowest merge, or, where it is long, by other ways.

These are exact backtracking, sweeps where that goes back too often or the model has no trie, and a heap at last.

Chapter: Compiled. Cost: that of the way that is taken; of the heap O(n log n).
"""

import numpy as np

from .backtracking import by_backtracking
from .handle import array_at
from .jit import PAD, U64, c_function, kernel
from .lowest_first import by_scanning, merge_lowest_first, rank
from .parts import INT64, PARTS, SCANNED, UINT8, UINT32, parts_at
from .sweeping import by_sweeping, pop, push
from .tables import NONE, find_pair, find_token
from .units import initial_tokens


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
        if 2 <= count <= SCANNED:
            for i in range(count):
                work.tokens[i] = out[at + i]
            for i in range(count - 1):
                merge = find_pair(tables.pairs, tables.pair_shift, work.tokens[i], work.tokens[i + 1])
                work.ranks[i] = rank(merge, i)
            stop = merge_lowest_first(count, out, at, tables, work.tokens, work.ranks)
        elif count > SCANNED:
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
