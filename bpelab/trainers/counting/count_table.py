"""Count tables: counted pre-tokens as arrays, which are sent between machines, partitioned by hash and summed.

The bucket of a pre-token depends on its bytes alone, so that two tables can be summed bucket by bucket, and no process
needs more than one bucket of each. The extension in C sums tables, or dictionaries if it wasn't built; the sums are
equal.

Chapter: More than one machine. Cost: linear in the tables; each distinct pre-token takes 16 bytes and its own.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ... import native as core
from ..._support.numpy_import import NDArray, np
from ..._support.textio import utf8_counts
from ...pretokenizers.split import Split
from .native import WordCounter
from .pre_token_counts import Words

WORD_BYTES = 150
"""Approximate bytes of a pre-token in a dictionary."""
_BYTE_HASHES = np.array([zlib.crc32(bytes([byte])) for byte in range(256)], np.uint64)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Counts(NamedTuple):
    """Distinct pre-tokens, concatenated; the end offset of each; how often each occurs."""

    content: NDArray[np.uint8]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]

    @staticmethod
    def of(words: Mapping[bytes, int]) -> Counts:
        """Return the table of a mapping without the empty pre-token.

        >>> Counts.of({b"low": 5, b"er": 2}).as_dict()
        {b'low': 5, b'er': 2}
        """
        content = np.frombuffer(b"".join(words), np.uint8)
        ends = np.fromiter(accumulate(map(len, words)), np.int64, len(words))
        return Counts(content, ends, np.fromiter(words.values(), np.int64, len(words)))

    @staticmethod
    def from_words(words: Words) -> Counts:
        """Return the table of what was counted in C, without a copy."""
        content, ends, counts = words
        return Counts(np.frombuffer(content, np.uint8), np.frombuffer(ends, np.int64), np.frombuffer(counts, np.int64))

    def as_dict(self) -> dict[bytes, int]:
        """Return the table as a mapping."""
        content, starts = self.content.tobytes(), [0, *self.ends.tolist()]
        return {content[a:b]: count for a, b, count in zip(starts, starts[1:], self.counts.tolist())}

    def words(self) -> Words:
        """Return the table as the native trainer takes it, without a copy."""
        content, ends, counts = map(np.ascontiguousarray, self)
        return Words(content.data, ends.data, counts.data)

    @property
    def nbytes(self) -> int:
        """The bytes of its arrays."""
        return int(self.content.nbytes + self.ends.nbytes + self.counts.nbytes)

    def buckets(self, number: int) -> list[Counts]:
        """Partition the table into `number` tables; the bytes of a pre-token determine which one it is in.

        >>> [table.as_dict() for table in Counts.of({b"low": 5, b"er": 2, b"a": 1}).buckets(2)]
        [{b'er': 2}, {b'low': 5, b'a': 1}]
        """
        if not len(self.ends):
            return [self] * number
        lengths = np.diff(self.ends, prepend=0)
        sums = np.add.reduceat(_BYTE_HASHES[self.content], self.ends - lengths)
        chosen = ((sums * _MULTIPLIER) >> np.uint64(32)) % np.uint64(number)
        return [self._select(np.flatnonzero(chosen == bucket), lengths) for bucket in range(number)]

    def at_least(self, least: int) -> Counts:
        """Return the pre-tokens that occur `least` times or more.

        >>> Counts.of({b"low": 5, b"er": 2}).at_least(3).as_dict()
        {b'low': 5}
        """
        return self if least <= 1 else self._select(np.flatnonzero(self.counts >= least), np.diff(self.ends, prepend=0))

    def _select(self, rows: NDArray[np.int64], lengths: NDArray[np.int64]) -> Counts:
        taken = lengths[rows]
        ends = np.cumsum(taken)
        offsets = np.repeat(self.ends[rows] - ends, taken) + np.arange(taken.sum())
        return Counts(self.content[offsets], ends, self.counts[rows])


def concat_counts(tables: Sequence[Counts]) -> Counts:
    """Concatenate tables that share no pre-token."""
    before = [0, *accumulate(len(table.content) for table in tables)]
    ends = [table.ends + start for table, start in zip(tables, before)]
    counts = [table.counts for table in tables]
    return Counts(
        np.concatenate([np.empty(0, np.uint8), *(table.content for table in tables)]),
        np.concatenate([np.empty(0, np.int64), *ends]),
        np.concatenate([np.empty(0, np.int64), *counts]),
    )


def sum_counts(tables: Iterable[Counts]) -> Counts:
    """Sum tables, in any order. Memory: the sum, and one of them."""
    counter = make_counter(None)
    for table in tables:
        counter.add(table)
    total: Counts = counter.table()
    return total


class PythonCounter:
    """Counts the pre-tokens of texts in a dictionary."""

    def __init__(self, split: Split | None) -> None:
        self._split, self._texts, self._words = split, Counter[str](), Counter[bytes]()

    def feed(self, texts: Sequence[str]) -> None:
        """Count the pre-tokens of `texts`, each by itself."""
        for text in texts:
            self._texts.update(self._split.split(text) if self._split else [text] if text else [])

    def add(self, table: Counts) -> None:
        """Count pre-tokens as often as they occur."""
        for word, count in table.as_dict().items():
            self._words[word] += count

    @property
    def nbytes(self) -> int:
        """The approximate bytes of what was counted so far."""
        return WORD_BYTES * (len(self._texts) + len(self._words))

    def table(self) -> Counts:
        """Return the table of what was counted."""
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
        """The bytes of what was counted so far."""
        return self._counter.nbytes

    def table(self) -> Counts:
        """Return what was counted."""
        return Counts.from_words(self._counter.words())


def make_counter(split: Split | None) -> Any:
    """Return a counter of the pre-tokens of `split`: in C if it was built."""
    return PythonCounter(split) if core.extension() is None else NativeCounter(split)
