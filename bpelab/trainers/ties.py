"""Tie-breaking as in other tutorials: the same algorithm, but a different choice among equally frequent pairs.

- "minbpe": the pair that comes first in the text, since Python's `max` keeps the first of equals.
- "cs336": the lexicographically greatest pair of tokens, compared as bytes: first the left one, then the right one.

Each pair knows the pre-tokens that it occurs in, and a merge recounts the pairs of those. The most frequent pair comes
from a lazy heap: after the merge that created a pair, its count only falls and its first position only moves right. So
a stale entry never ranks too low, and is pushed again with the true values.

Chapter: Training. Cost: O(size of the pre-tokens that merges change), and a heap operation for each of their pairs.
Source: minbpe `base.py`, `regex.py`; Stanford CS336, assignment 1, "BPE training".
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

from .._support.nearest_name import nearest
from ..model.trace import TrainStep
from .naive import replace_pair

Pair = tuple[int, int]
TIES = ("ids", "minbpe", "cs336")
"""The ways to break ties; "ids" is that of all other trainers (`naive.py`)."""


def check_ties(ties: str) -> None:
    """Raise ValueError if `ties` isn't one of `TIES`."""
    if ties not in TIES:
        meant = nearest(ties, TIES) if isinstance(ties, str) else None
        raise ValueError(
            f"ties is one of {', '.join(TIES)}, not {ties!r}" + (f": did you mean {meant}?" if meant else "")
        )


class _Greatest(tuple[bytes, bytes]):
    """A pair of tokens whose order is reversed, so that a heap returns the greatest first."""

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return tuple.__gt__(self, other)


def train_with_ties(
    pre_tokens: Mapping[bytes, int], num_merges: int, min_frequency: int = 2, keep_counts: bool = False, *, ties: str
) -> Iterator[TrainStep]:
    """Yield the merges, most frequent first, with ties broken as `ties` says.

    `pre_tokens` must be in the order of their first occurrence.

    >>> pre_tokens = {b"low": 5, b"lower": 2, b"widest": 3, b"newest": 6}
    >>> [step.token for step in train_with_ties(pre_tokens, 4, ties="cs336")]
    [b'st', b'est', b'ow', b'low']
    >>> [step.token for step in train_with_ties(pre_tokens, 4, ties="minbpe")]
    [b'es', b'est', b'lo', b'low']
    """
    check_ties(ties)
    sequences, weights = [list(pre_token) for pre_token in pre_tokens], list(pre_tokens.values())
    tokens = [bytes([byte]) for byte in range(256)]
    counts: defaultdict[Pair, int] = defaultdict(int)
    where: defaultdict[Pair, dict[int, None]] = defaultdict(dict)  # pre-tokens in order, as keys
    for number, ids in enumerate(sequences):
        for pair in zip(ids, ids[1:]):
            counts[pair] += weights[number]
            where[pair][number] = None

    def first_occurrence(pair: Pair) -> tuple[int, int]:
        """Return the first pre-token that a pair occurs in, and the byte offset there, which merges don't change."""
        number, at = next(iter(where[pair])), 0
        for neighbours in zip(sequences[number], sequences[number][1:]):
            if neighbours == pair:
                break
            at += len(tokens[neighbours[0]])
        return number, at

    orders: dict[str, Callable[[Pair], Any]] = {
        "ids": lambda pair: pair,
        "minbpe": first_occurrence,
        "cs336": lambda pair: _Greatest((tokens[pair[0]], tokens[pair[1]])),
    }
    order = orders[ties]
    heap = [(-count, order(pair), pair) for pair, count in counts.items() if count >= min_frequency]
    heapify(heap)
    while heap and len(tokens) < 256 + num_merges:
        *claimed, pair = heappop(heap)
        count = counts.get(pair, 0)
        if count < min_frequency:
            continue
        if claimed != (true := [-count, order(pair)]):
            heappush(heap, (true[0], true[1], pair))
            continue
        new = len(tokens)
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        kept = {pair: number for pair, number in counts.items() if number} if keep_counts else None
        yield TrainStep(new - 256, *pair, count, tokens[new], kept)
        for made in _merge(pair, new, sequences, weights, counts, where):
            if counts[made] >= min_frequency:
                heappush(heap, (-counts[made], order(made), made))


def _merge(
    pair: Pair,
    new: int,
    sequences: list[list[int]],
    weights: list[int],
    counts: defaultdict[Pair, int],
    where: defaultdict[Pair, dict[int, None]],
) -> dict[Pair, None]:
    """Merge `pair` in all pre-tokens that it occurs in; return the pairs that `new` forms there."""
    made: dict[Pair, None] = {}
    for number in list(where[pair]):
        before = sequences[number]
        after = sequences[number] = replace_pair(before, pair, new)
        kept = set(zip(after, after[1:]))
        for old in zip(before, before[1:]):
            counts[old] -= weights[number]
            if old not in kept:
                where[old].pop(number, None)
        for now in zip(after, after[1:]):
            counts[now] += weights[number]
            if new in now:
                where[now][number] = None
                made[now] = None
    del counts[pair], where[pair]
    return made
