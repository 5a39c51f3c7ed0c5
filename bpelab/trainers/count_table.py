"""Tables of counted pre-tokens as they go from machine to machine: arrays, cut by hash, and added up again.

A pre-token's bucket follows from its bytes alone, so that two tables can be added bucket by bucket, and no process
needs more than one bucket of each. The extension in C adds tables, or where it wasn't built dictionaries do; the sums
are equal.

Chapter: More than one machine. Cost: linear in the tables; they take 16 bytes and its own for each distinct pre-token.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from .. import native as core
from ..pretokenizers.split import Split
from ..shards.numbers import NDArray, np
from ..textio import utf8_counts
from .native import WordCounter
from .words import Words

A_WORD = 150
"""Bytes that a pre-token takes in a dictionary, about."""
_OF_A_BYTE = np.array([zlib.crc32(bytes([byte])) for byte in range(256)], np.uint64)
_ODD = np.uint64(0x9E3779B97F4A7C15)


class Counts(NamedTuple):
    """Distinct pre-tokens end to end; where each ends; how often each occurs."""

    content: NDArray[np.uint8]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]

    @staticmethod
    def of(words: Mapping[bytes, int]) -> Counts:
        """The table of a mapping without the empty pre-token.

        >>> Counts.of({b"low": 5, b"er": 2}).as_dict()
        {b'low': 5, b'er': 2}
        """
        content = np.frombuffer(b"".join(words), np.uint8)
        ends = np.fromiter(accumulate(map(len, words)), np.int64, len(words))
        return Counts(content, ends, np.fromiter(words.values(), np.int64, len(words)))

    @staticmethod
    def from_words(words: Words) -> Counts:
        """The table of what was counted in C, without a copy."""
        content, ends, counts = words
        return Counts(np.frombuffer(content, np.uint8), np.frombuffer(ends, np.int64), np.frombuffer(counts, np.int64))

    def as_dict(self) -> dict[bytes, int]:
        """The table as a mapping."""
        content, starts = self.content.tobytes(), [0, *self.ends.tolist()]
        return {content[a:b]: count for a, b, count in zip(starts, starts[1:], self.counts.tolist())}

    def words(self) -> Words:
        """The table as the native trainer takes it, without a copy."""
        content, ends, counts = map(np.ascontiguousarray, self)
        return Words(content.data, ends.data, counts.data)

    @property
    def nbytes(self) -> int:
        """Of its arrays."""
        return int(self.content.nbytes + self.ends.nbytes + self.counts.nbytes)

    def buckets(self, number: int) -> list[Counts]:
        """The same, each pre-token in the one of so many tables that its bytes say.

        >>> [table.as_dict() for table in Counts.of({b"low": 5, b"er": 2, b"a": 1}).buckets(2)]
        [{b'er': 2}, {b'low': 5, b'a': 1}]
        """
        if not len(self.ends):
            return [self] * number
        lengths = np.diff(self.ends, prepend=0)
        sums = np.add.reduceat(_OF_A_BYTE[self.content], self.ends - lengths)
        chosen = ((sums * _ODD) >> np.uint64(32)) % np.uint64(number)
        return [self._only(np.flatnonzero(chosen == bucket), lengths) for bucket in range(number)]

    def at_least(self, least: int) -> Counts:
        """The pre-tokens that occur so often.

        >>> Counts.of({b"low": 5, b"er": 2}).at_least(3).as_dict()
        {b'low': 5}
        """
        return self if least <= 1 else self._only(np.flatnonzero(self.counts >= least), np.diff(self.ends, prepend=0))

    def _only(self, rows: NDArray[np.int64], lengths: NDArray[np.int64]) -> Counts:
        taken = lengths[rows]
        ends = np.cumsum(taken)
        places = np.repeat(self.ends[rows] - ends, taken) + np.arange(taken.sum())
        return Counts(self.content[places], ends, self.counts[rows])


def joined(tables: Sequence[Counts]) -> Counts:
    """Tables that share no pre-token as one."""
    before = [0, *accumulate(len(table.content) for table in tables)]
    ends = [table.ends + start for table, start in zip(tables, before)]
    counts = [table.counts for table in tables]
    return Counts(
        np.concatenate([np.empty(0, np.uint8), *(table.content for table in tables)]),
        np.concatenate([np.empty(0, np.int64), *ends]),
        np.concatenate([np.empty(0, np.int64), *counts]),
    )


def added(tables: Iterable[Counts]) -> Counts:
    """The sum of some tables, in any order. Memory: the sum's, and that of one of them."""
    counter = counter_of(None)
    for table in tables:
        counter.add(table)
    total: Counts = counter.table()
    return total


class PlainCounter:
    """Counts the pre-tokens of texts in a dictionary."""

    def __init__(self, split: Split | None) -> None:
        self._split, self._texts, self._words = split, Counter[str](), Counter[bytes]()

    def feed(self, texts: Sequence[str]) -> None:
        """Count what `texts` are cut into, each by itself."""
        for text in texts:
            self._texts.update(self._split.split(text) if self._split else [text] if text else [])

    def add(self, table: Counts) -> None:
        """Count pre-tokens as often as they occur."""
        for word, count in table.as_dict().items():
            self._words[word] += count

    @property
    def nbytes(self) -> int:
        """About, of the memory for what was counted so far."""
        return A_WORD * (len(self._texts) + len(self._words))

    def table(self) -> Counts:
        """What was counted."""
        return Counts.of(self._words + utf8_counts(self._texts))


class NativeCounter:
    """The same, done in C."""

    def __init__(self, split: Split | None) -> None:
        self._counter = WordCounter(split)
        self.feed = self._counter.feed

    def add(self, table: Counts) -> None:
        """Count pre-tokens as often as they occur."""
        self._counter.add(table.words())

    @property
    def nbytes(self) -> int:
        """Of the memory for what was counted so far."""
        return self._counter.nbytes

    def table(self) -> Counts:
        """What was counted."""
        return Counts.from_words(self._counter.words())


def counter_of(split: Split | None) -> Any:
    """A counter for pre-tokens of `split`: the one in C where it was built."""
    return PlainCounter(split) if core.extension() is None else NativeCounter(split)
