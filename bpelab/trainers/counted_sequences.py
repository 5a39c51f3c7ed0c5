"""Counted sequences: the `Phrases` of `continue_training.py` in pure Python.

Chapters: Superwords; New words for an old model. Cost: linear in the sequences, twice. Memory: all distinct pairs, and
the distinct parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain, pairwise
from typing import TypeVar

from .._support.lazy_property import cached_property
from ..model.rank_merges import Pair
from ..model.trace import TrainStep
from .continue_training import Limits
from .incremental import train_incremental

Key = TypeVar("Key")
T = TypeVar("T")


class CountedSequences:
    """The `Phrases` of sequences with counts, in Python.

    Each call of `sequences` returns (count, sequences that each occur that often); a sequence is indices into `tokens`.

    >>> from bpelab.trainers.continue_training import continue_training
    >>> from bpelab.trainers.superwords import Superwords
    >>> counted = CountedSequences(lambda: [(2, [[0, 1, 1]])], [b"of", b" the"])
    >>> [step.token for step in continue_training(counted, 9, Superwords())]
    [b'of the', b'of the the']
    """

    dropped = 0

    def __init__(
        self, sequences: Callable[[], Iterable[tuple[int, Iterable[Sequence[int]]]]], tokens: Sequence[bytes]
    ) -> None:
        self._sequences, self.tokens = sequences, tokens

    @cached_property
    def _pairs(self) -> Counter[Pair]:
        return self._count_of(pairwise)

    def _count_of(self, parts: Callable[[Sequence[int]], Iterable[Key]]) -> Counter[Key]:
        """Count the items that `parts` returns for each sequence, such as its pairs."""
        total: Counter[Key] = Counter()
        for times, sequences in self._sequences():
            found = Counter(chain.from_iterable(map(parts, sequences)))
            total.update(found if times == 1 else {key: times * count for key, count in found.items()})
        return total

    def frequent(self, number: int) -> int:
        """Return the highest count that at least `number` pairs reach; 1 if there are fewer pairs."""
        most = nlargest(number, self._pairs.values())
        return most[-1] if len(most) == number else 1

    def pairs(self, least: int) -> dict[Pair, int]:
        """Return the pairs that occur at least `least` times."""
        return {pair: count for pair, count in self._pairs.items() if count >= least}

    def learn(self, mergeable: Collection[Pair] | None, num_merges: int, least: int, limits: Limits) -> list[TrainStep]:
        """Return the merges learned from the sequences, cut at pairs that aren't mergeable."""
        parts = self._count_of(lambda sequence: split_at_rare_pairs(sequence, mergeable))
        return list(train_incremental(parts, num_merges, least, initial=self.tokens, allowed=limits.allows))


def split_at_rare_pairs(sequence: Sequence[int], mergeable: Collection[Pair] | None) -> Iterator[tuple[int, ...]]:
    """Cut a sequence at pairs that aren't mergeable, and yield the parts of two or more tokens.

    >>> list(split_at_rare_pairs([1, 2, 3, 1, 2], {(1, 2)}))
    [(1, 2), (1, 2)]
    """
    start = 0
    for end, pair in enumerate(pairwise(sequence), 1):
        if mergeable is not None and pair not in mergeable:
            if end - start > 1:
                yield tuple(sequence[start:end])
            start = end
    if len(sequence) - start > 1:
        yield tuple(sequence[start:])


def split_at_none(items: Iterable[T | None]) -> Iterator[list[T]]:
    """Yield the parts of a sequence between its Nones.

    >>> list(split_at_none([1, 2, None, None, 3]))
    [[1, 2], [3]]
    """
    part: list[T] = []
    for item in chain(items, [None]):
        if item is not None:
            part.append(item)
        elif part:
            yield part
            part = []
