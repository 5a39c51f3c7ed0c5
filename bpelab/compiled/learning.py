"""The incremental trainer in flat arrays: no links and no dictionaries.

All words lie end to end, a border after each, and a token is written at the first and at the last of its bytes: its
neighbours are found from its length, and a place that is out of date shows another token. What a merge changes is added
up by neighbour, so that each pair's count is looked up once a merge and not once a place.

Chapter: Incremental training. Cost: a twentieth of that of `trainers/incremental.py`; 12 bytes of memory for each byte
of the distinct words, and 4 for each place.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import TrainingError
from .jit import inlined, kernel, prefetch
from .pairs import COUNT, HEAP, NUMBER, START, Pairs, add_pair, drop_top, find_row, has_room, sink
from .words import Words

BORDER = 0
"""A word ends here, or a token goes on: tokens are numbered from 1."""
BEFORE, AFTER = 0, 1
WEIGHT, PLACE = 0, 1
AHEAD = 16
"""Places between asking for one and looking at it."""
PATIENCE = 1_000_000
"""Places that are looked at in one call of the kernel, which can't be interrupted: some 20 ms."""
GOES_ON, NO_ROOM, ENDS = 0, 1, 2
MOST_BYTES = (1 << 31) - 1
LARGEST_COUNT = 1 << 62


class State(NamedTuple):
    """The words, and room for one merge.

    Attributes:
        tokens: of each byte of the words; see above. The first and the last are borders.
        counts: how often the word of the byte occurs.
        lengths: of a token, in bytes.
        changes: [token, side]: what the pair of a neighbour on that side has gained, and its number of places; then
            where the next of them is to be written, or -1.
        neighbours: [side]: those that were met.
        merged: rows of place, token before, token after.
    """

    tokens: NDArray[np.int32]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    changes: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    merged: NDArray[np.int32]


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


@inlined
def meet(state, side, token, weight, met):
    """A neighbour of the new token; how many different ones there are now."""
    changes = state.changes
    state.neighbours[side, met] = token
    met += changes[token, side, PLACE] == 0
    changes[token, side, WEIGHT] += weight
    changes[token, side, PLACE] += 1
    return met


@kernel
def replace(state, places, first, last, left, right, new):
    """Merge a pair at its places. How many they were, and how many tokens stand before and after it."""
    tokens, counts, merged = state.tokens, state.counts, state.merged
    long = np.int64(state.lengths[left])
    both = long + np.int64(state.lengths[right])
    found, before, after = 0, 0, 0
    for number in range(first, last):
        if number + AHEAD < last:
            ahead = np.int64(places[number + AHEAD])
            prefetch(tokens, ahead)
            prefetch(counts, ahead)
        place = np.int64(places[number])
        if tokens[place] != left or tokens[place + long] != right:
            continue  # out of date
        tokens[place + long - 1] = tokens[place + long] = BORDER
        tokens[place] = tokens[place + both - 1] = new
        merged[found, 0], merged[found, 1], merged[found, 2] = place, tokens[place - 1], tokens[place + both]
        before = meet(state, BEFORE, tokens[place - 1], counts[place], before)
        after = meet(state, AFTER, tokens[place + both], counts[place], after)
        found += 1
    return found, before, after


@kernel
def settle(state, pairs, side, met, lost, new, least):
    """What the neighbours on one side formed with `lost`, half of the new token, they form with the new one."""
    changes, rows = state.changes, pairs.rows
    for number in range(met):
        token = np.int64(state.neighbours[side, number])
        weight, places = changes[token, side, WEIGHT], changes[token, side, PLACE]
        changes[token, side, PLACE] = -1
        if token == BORDER:
            continue
        row = find_row(rows, token << 32 | lost if side == BEFORE else lost << 32 | token)
        if rows[row, NUMBER] != 0:
            rows[row, COUNT] -= weight
        if weight >= least:
            key = token << 32 | new if side == BEFORE else new << 32 | token
            changes[token, side, PLACE] = add_pair(pairs, key, weight, places)


@kernel
def note_places(state, places, found, new):
    """Write down where the new pairs stand."""
    changes, merged = state.changes, state.merged
    for number in range(found):
        place, before, after = np.int64(merged[number, 0]), np.int64(merged[number, 1]), np.int64(merged[number, 2])
        at = changes[before, BEFORE, PLACE]
        if at >= 0:
            places[at] = place - state.lengths[before]
            changes[before, BEFORE, PLACE] = at + 1
        at = changes[after, AFTER, PLACE]
        if at >= 0:
            places[at] = place
            changes[after, AFTER, PLACE] = at + 1


@kernel
def merge(state, pairs, done, most, least, out):
    """Learn merges from number `done` up to `most`: left, right and count into `out`. How many are done, and why not
    more: places enough were looked at, there is no room, or nothing is left to merge."""
    heap, rows, used, changes = pairs.heap, pairs.rows, pairs.used, state.changes
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
        found, before, after = replace(state, pairs.places, start, start + number, left, right, new)
        settle(state, pairs, AFTER, after, right, new, least)  # first: in a run the new token stands before itself
        settle(state, pairs, BEFORE, before, left, new, least)
        note_places(state, pairs.places, found, new)
        for side, met in ((BEFORE, before), (AFTER, after)):
            for at in range(met):
                token = state.neighbours[side, at]
                changes[token, side, WEIGHT] = changes[token, side, PLACE] = 0
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
        raise TrainingError("the words occur so often that their counts don't fit into 64 bits")
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
