"""One merge in flat arrays: no links and no dictionaries.

All words lie end to end, a border after each, and a token is written at the first and at the last of its bytes: its
neighbours are found from its length, and a place that is out of date shows another token. What a merge changes is added
up by neighbour, so that each pair's count is looked up once a merge and not once a place.

Chapter: Incremental training. Cost: a few lines of memory for each place, asked for before they are needed; one look-up
of a pair for each different neighbour.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .intrinsics import prefetch
from .jit import expanded, inlined, kernel
from .pairs import COUNT, NUMBER, add_pair, find_row

BORDER = 0
"""A word ends here, or a token goes on: tokens are numbered from 1."""
BEFORE, AFTER = 0, 1
WEIGHT, PLACE = 0, 1
AHEAD = 16
"""Places between asking for one and looking at it."""


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


@expanded
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
    found, before, after = 0, np.int64(0), np.int64(0)
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


@inlined
def merge_pair(state, pairs, start, number, left, right, new, least):
    """Make `new` of a pair at a run of places, and bring all that follows from it up to date."""
    found, before, after = replace(state, pairs.places, start, start + number, left, right, new)
    settle(
        state, pairs, np.int64(AFTER), after, right, new, least
    )  # first: in a run the new token stands before itself
    settle(state, pairs, np.int64(BEFORE), before, left, new, least)
    note_places(state, pairs.places, found, new)
    for side, met in ((BEFORE, before), (AFTER, after)):
        for at in range(met):
            token = state.neighbours[side, at]
            state.changes[token, side, WEIGHT] = state.changes[token, side, PLACE] = 0
