"""Add up the probabilities of sequences of tokens that begin alike, with few calls of the model.

The sequences are a tree. Each call of the model, at a node, gives the probabilities of all its children at once, so a
node is visited only if a wanted token comes after it or below it, and the likeliest one first. If the number of calls
is limited, the nodes that weren't visited bound what is missing.

Cost: a call for each node.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from .._support.numpy_import import NDArray, np

Ids = tuple[int, ...]
Row = NDArray[np.float64]
"""Log-probabilities by id."""
Numbers = NDArray[np.int64]


@dataclass
class Weights:
    """Sums of probabilities, by key, as lists of the logarithms that are added up.

    Attributes:
        terms: for each key.
        unvisited: the logarithms of the probabilities of nodes that weren't visited.
    """

    terms: dict[int, list[float]] = field(default_factory=dict)
    unvisited: list[float] = field(default_factory=list)

    def shares(self) -> dict[int, float]:
        """Return each key's share of the sum of all."""
        sums = {key: log_sum(terms) for key, terms in self.terms.items()}
        whole = log_sum(list(sums.values()))
        return {key: math.exp(each - whole) for key, each in sums.items()} if whole > -math.inf else {}

    @property
    def log_total(self) -> float:
        """The logarithm of the sum of all."""
        return log_sum([log_sum(terms) for terms in self.terms.values()])

    @property
    def missing(self) -> float:
        """The largest share of the sum of all that the nodes that weren't visited could have."""
        unvisited = log_sum(self.unvisited)
        return math.exp(unvisited - log_sum([unvisited, self.log_total])) if self.unvisited else 0.0


def weigh(row_of: Callable[[Ids], Row], wanted: Mapping[Ids, tuple[Numbers, Numbers]], root: Ids, most: int) -> Weights:
    """Add up the probabilities, given `root`, of all wanted sequences, in at most `most` calls of `row_of`.

    `wanted` maps ids to the tokens after them and the keys of these, small numbers; all ids begin with `root`.
    """
    children: dict[Ids, set[Ids]] = {}
    for ids in wanted:
        for size in range(len(ids), len(root), -1):
            children.setdefault(ids[: size - 1], set()).add(ids[:size])
    found, waiting = Weights(), [(-0.0, root)]
    while waiting and most > 0:
        most -= 1
        unlikely, ids = heappop(waiting)
        row = row_of(ids)
        if ids in wanted:
            tokens, keys = wanted[ids]
            for key, term in sums_by_key(row[tokens] - unlikely, keys):
                found.terms.setdefault(key, []).append(term)
        for child in children.get(ids, ()):
            heappush(waiting, (unlikely - float(row[child[-1]]), child))
    found.unvisited = [-unlikely for unlikely, _ in waiting]
    return found


def sums_by_key(logarithms: Row, keys: Numbers) -> Iterator[tuple[int, float]]:
    """Yield each key with the logarithm of the sum of its numbers, which are given by their logarithms.

    >>> [(key, round(math.exp(each))) for key, each in sums_by_key(np.log([2.0, 4.0, 3.0]), np.array([7, 1, 7]))]
    [(1, 4), (7, 5)]
    """
    top = max(float(logarithms.max(initial=-math.inf)), -1e300)  # if all are 0, not -inf: the differences are numbers
    with np.errstate(divide="ignore"):
        sums = np.log(np.bincount(keys, np.exp(logarithms - top))) + top
    present = np.unique(keys)
    yield from zip(present.tolist(), sums[present].tolist())


def common_beginning(sequences: Collection[Ids]) -> Ids:
    """Return the longest beginning that all sequences share.

    >>> common_beginning([(1, 2, 3), (1, 2), (1, 2, 4)])
    (1, 2)
    """
    first, last = min(sequences), max(sequences)
    same = next((at for at, pair in enumerate(zip(first, last)) if pair[0] != pair[1]), len(first))
    return first[:same]


def log_sum(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the sum of numbers that are given by their logarithms.

    >>> round(math.exp(log_sum([math.log(2), math.log(3)])), 9), log_sum([])
    (5.0, -inf)
    """
    top = max(logarithms, default=-math.inf)
    return top + math.log(math.fsum([math.exp(each - top) for each in logarithms])) if top > -math.inf else top
