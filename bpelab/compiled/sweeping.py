"""A long piece to tokens by sweeps: places of one rank lie in one bucket, and are merged from left to right at once.

This is `encoders/buckets.py` in arrays. A bucket is a list of places that are linked in the order in which they came,
found by its rank in a hash table; a heap holds the ranks. Places come in order but where several ranks' sweeps add to
one bucket: then they are sorted, with a heap as well. Where a merge makes a pair that ranks before it, which trained
models don't have, the piece is left to `by_heap`.

Chapter: A heap; Compiled. Cost: some 40 ns a byte for a run of one letter that tokens of many lengths serve.
"""

import numpy as np

from .hashing import spread
from .jit import U64, inlined, kernel
from .tables import NONE, find_pair


@inlined
def push(heap, size, entry):
    """Put an entry on a heap of `size`; the new size."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > entry:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = entry
    return size + 1


@inlined
def pop(heap, size):
    """Take the lowest entry, heap[0], away; the new size."""
    size -= 1
    entry, at = heap[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= entry:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = entry
    return size


@inlined
def find_slot(slots, rank):
    """The slot of a rank's bucket, or the one that it would take."""
    at = np.int64(spread(U64(rank)) >> U64(40)) & (len(slots) - 1)
    while slots[at, 0] != rank and slots[at, 0] >= 0:
        at = (at + 1) & (len(slots) - 1)
    return at


@inlined
def put(place, rank, slots, links, used, ranks, size):
    """Add a place to a rank's bucket as entry `used`; the new size of the heap of ranks."""
    slot = find_slot(slots, rank)
    links[used, 0], links[used, 1] = place, -1
    if slots[slot, 0] < 0 or slots[slot, 1] < 0:
        slots[slot, 0], slots[slot, 1] = rank, used
        size = push(ranks, size, U64(rank))
    else:
        links[slots[slot, 2], 1] = used
    slots[slot, 2] = used
    return size


@inlined
def take(slots, links, rank, places):
    """Empty a rank's bucket into `places`, from left to right; how many."""
    slot = find_slot(slots, rank)
    entry, count, ordered = np.int64(slots[slot, 1]), 0, True
    slots[slot, 1] = -1
    while entry >= 0:
        places[count] = U64(links[entry, 0])
        ordered &= count == 0 or places[count - 1] <= places[count]
        count += 1
        entry = np.int64(links[entry, 1])
    if not ordered:
        heap = places[:count].copy()
        for number in range(count):
            push(heap, number, places[number])
        for number in range(count):
            places[number] = heap[0]
            pop(heap, count - number)
    return count


@kernel
def by_sweeping(out, at, count, tables):
    """Merge the `count` tokens that `out` has from `at` on; where they end.

    -1 if a merge made a pair that ranks before it: then nothing in `out` was changed.
    """
    tokens, places = out[at : at + count].copy(), np.empty(3 * count, np.uint64)
    following, before = np.empty(count, np.int32), np.empty(count, np.int32)
    links, ranks = np.empty((3 * count, 2), np.int32), np.empty(3 * count, np.uint64)
    buckets = 16
    while buckets < min(6 * count, 2 * len(tables.made)):
        buckets *= 2
    slots = np.full((buckets, 3), -1, np.int32)
    size, used = np.int64(0), np.int64(0)
    for i in range(count):
        following[i], before[i] = i + 1, i - 1
        if i + 1 < count:
            merge = find_pair(tables.pairs, tables.pair_shift, tokens[i], tokens[i + 1])
            if merge != NONE:
                size = put(i, np.int32(merge), slots, links, used, ranks, size)
                used += 1
    while size:
        rank = np.int32(ranks[0])
        size = pop(ranks, size)
        made, waiting = tables.made[rank], take(slots, links, rank, places)
        for number in range(waiting):
            place = np.int64(places[number])
            right = np.int64(following[place])
            if tokens[place] == NONE or right >= count:
                continue
            if find_pair(tables.pairs, tables.pair_shift, tokens[place], tokens[right]) != np.uint32(rank):
                continue
            tokens[place], tokens[right] = made, NONE
            behind, left = np.int64(following[right]), np.int64(before[place])
            following[place] = behind
            lowest = NONE
            if behind < count:
                before[behind] = place
                merge = find_pair(tables.pairs, tables.pair_shift, made, tokens[behind])
                if merge != NONE:
                    size = put(place, np.int32(merge), slots, links, used, ranks, size)
                    used, lowest = used + 1, merge
            if left >= 0:
                merge = find_pair(tables.pairs, tables.pair_shift, tokens[left], made)
                if merge != NONE:
                    size = put(left, np.int32(merge), slots, links, used, ranks, size)
                    used, lowest = used + 1, min(lowest, merge)
            if lowest <= np.uint32(rank):
                return np.int64(-1)
    place = np.int64(0)
    while place < count:
        out[at] = tokens[place]
        at += 1
        place = np.int64(following[place])
    return at
