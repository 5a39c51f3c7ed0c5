"""The incremental trainer in arrays: merge after merge until something is to be done in Python.

A merge itself is `replacing.py`, and its pairs are `pairs.py`. A kernel can't be interrupted, so it comes back after a
million places; then Ctrl-C is heard and a progress bar moves.

Chapter: Incremental training. Cost: a twentieth of that of `trainers/incremental.py`; 12 bytes of memory for each byte
of the distinct words, and 4 for each place.
"""

from collections.abc import Iterator

import numpy as np

from ..errors import TrainingError
from .jit import kernel
from .pairs import COUNT, HEAP, NUMBER, START, Pairs, add_pair, drop_top, find_row, has_room, sink
from .replacing import BORDER, State, merge_pair
from .words import BEYOND_64_BITS, Words

PATIENCE = 1_000_000
"""Places that are looked at in one call: some 20 ms."""
GOES_ON, NO_ROOM, ENDS = 0, 1, 2
MOST_BYTES = (1 << 31) - 1
LARGEST_COUNT = 1 << 62


@kernel
def lay_out(words, tokens, counts, weights, numbers):
    """Fill `tokens` and `counts`, and count the pairs of bytes: how often they occur and at how many places."""
    at, start = 1, 0
    for word in range(len(words.ends)):
        end = int(words.ends[word])
        for place in range(start, end):
            tokens[at], counts[at] = np.int32(words.content[place]) + 1, words.counts[word]
            if place > start:
                pair = np.int64(words.content[place - 1]) << 8 | np.int64(words.content[place])
                weights[pair] += words.counts[word]
                numbers[pair] += 1
            at += 1
        at += 1
        start = end


@kernel
def first_pairs(tokens, pairs, weights, numbers, least):
    """Enter the pairs of bytes; `numbers` becomes where the next place is to be written."""
    for pair in range(len(weights)):
        if weights[pair] >= least:
            key = np.int64((pair >> 8) + 1) << 32 | np.int64((pair & 255) + 1)
            numbers[pair] = add_pair(pairs, key, weights[pair], numbers[pair])
    for place in range(1, len(tokens) - 1):
        if tokens[place] != BORDER and tokens[place + 1] != BORDER:
            here = np.int64(tokens[place] - 1) << 8 | np.int64(tokens[place + 1] - 1)
            if weights[here] >= least:
                pairs.places[numbers[here]] = place
                numbers[here] += 1


@kernel
def merge(state, pairs, done, most, least, out):
    """Learn merges from number `done` up to `most`: left, right and count into `out`. How many are done, and why not
    more: places enough were looked at, there is no room, or nothing is left to merge."""
    heap, rows, used = pairs.heap, pairs.rows, pairs.used
    looked = np.int64(0)
    while done < most and looked < PATIENCE:
        if used[HEAP] == 0:
            return done, ENDS
        count, key = heap[0, 0], heap[0, 1]
        row = find_row(rows, key)
        now, number = rows[row, COUNT], rows[row, NUMBER]
        if now != count:
            if now >= least:
                sink(heap, used[HEAP], now, key)
            else:
                drop_top(pairs)
            continue
        if not has_room(pairs, 2 * min(number, len(state.lengths)), 2 * number):
            return done, NO_ROOM
        drop_top(pairs)
        left, right, new = key >> 32, key & 0xFFFFFFFF, np.int64(257 + done)
        out[done, 0], out[done, 1], out[done, 2] = left - 1, right - 1, count
        state.lengths[new] = state.lengths[left] + state.lengths[right]
        start = rows[row, START]
        merge_pair(state, pairs, start, number, left, right, new, least)
        rows[row, COUNT] = 0
        looked += number
        done += 1
    return done, GOES_ON


def learn_merges(words: Words, most: int, least: int) -> Iterator[tuple[int, int, int]]:
    """(left, right, count) of each merge, tokens numbered as in a TrainStep.

    >>> list(learn_merges(Words.of({b"low": 5, b"lower": 2}), 2, 2))
    [(108, 111, 7), (256, 119, 7)]

    Raises TrainingError where words or counts are larger than the arrays hold.
    """
    lengths = np.diff(words.ends, prepend=0)
    size = int(lengths.sum()) + len(words.ends) + 1
    if size > MOST_BYTES:
        raise TrainingError(
            f"the distinct pre-tokens have {size:,} bytes, more than the compiled trainer takes; train on less text, "
            "or with a pattern that cuts it into words"
        )
    if float(lengths.astype(float) @ words.counts) >= LARGEST_COUNT:
        raise TrainingError(BEYOND_64_BITS)
    most, least = max(0, min(most, size)), min(max(least, 1), LARGEST_COUNT)
    tokens, counts = np.zeros(size, np.int32), np.zeros(size, np.int64)
    weights, numbers = np.zeros(1 << 16, np.int64), np.zeros(1 << 16, np.int64)
    lay_out(words, tokens, counts, weights, numbers)
    kept = numbers[weights >= least]
    room = int(kept.max(initial=0))
    pairs = Pairs.of(2 * (len(kept) + min(room, 257 + most)), int(kept.sum()))
    state = State(
        tokens, counts, np.ones(257 + most, np.int32), np.zeros((257 + most, 2, 2), np.int64),
        np.empty((2, 258 + most), np.int32), np.empty((room, 3), np.int32),
    )  # fmt: skip
    first_pairs(tokens, pairs, weights, numbers, least)
    out, done, why = np.empty((most, 3), np.int64), 0, GOES_ON
    while done < most and why != ENDS:
        before = done
        done, why = merge(state, pairs, done, most, least, out)
        yield from map(tuple, out[before:done].tolist())
        if why == NO_ROOM:
            pairs = pairs.with_room(2 * min(room, 257 + most), 2 * room, least)
