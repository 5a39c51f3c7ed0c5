"""Counters of pre-tokens, in C if the extension was built, otherwise in Python; and sums of count tables.

Chapter: More than one machine. Cost: linear in the texts and the tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from ... import native as core
from ..._support.textio import utf8_counts
from ...pretokenizers.split import Split
from .native import NativeCounter
from .pre_token_counts import PreTokenCounts

PRE_TOKEN_BYTES = 150
"""The approximate size of a pre-token in a dict, in bytes."""


class PreTokenCounter(Protocol):
    """Counts byte strings such as pre-tokens. Each thread needs its own."""

    @property
    def nbytes(self) -> int:
        """The size of the counts so far, in bytes."""

    def feed(self, texts: list[str], /) -> object:
        """Count the strings in `texts`, each text separately."""

    def table(self) -> PreTokenCounts:
        """Return the counts so far as a table."""


class PythonCounter:
    """Counts the pre-tokens of texts in a dict."""

    def __init__(self, split: Split | None) -> None:
        self._split, self._texts, self._counts = split, Counter[str](), Counter[bytes]()

    def feed(self, texts: Iterable[str]) -> None:
        """Count the pre-tokens of `texts`, each text separately."""
        for text in texts:
            self._texts.update(self._split.split(text) if self._split else [text] if text else [])

    def add(self, table: PreTokenCounts) -> None:
        """Add the counts of a table."""
        for pre_token, count in table.as_dict().items():
            self._counts[pre_token] += count

    @property
    def nbytes(self) -> int:
        """The approximate size of the counts so far, in bytes."""
        return PRE_TOKEN_BYTES * (len(self._texts) + len(self._counts))

    def table(self, least: int = 1) -> PreTokenCounts:
        """Return the table of pre-tokens that occur at least `least` times."""
        total = self._counts + utf8_counts(self._texts)
        return PreTokenCounts.of({pre_token: count for pre_token, count in total.items() if count >= least})


def make_counter(split: Split | None) -> PythonCounter | NativeCounter:
    """Return a counter of the pre-tokens of `split`, in C if the extension was built."""
    return PythonCounter(split) if core.extension() is None else NativeCounter(split)


def sum_counts(tables: Iterable[PreTokenCounts], least: int = 1) -> PreTokenCounts:
    """Sum tables, in any order, and drop pre-tokens that occur less than `least` times.

    >>> sum_counts([PreTokenCounts.of({b"low": 5, b"er": 2}), PreTokenCounts.of({b"low": 1})], 3).as_dict()
    {b'low': 6}

    Memory: the sum and one table. Raises TrainingError for a count beyond 64 bits.
    """
    counter = make_counter(None)
    for table in tables:
        counter.add(table)
    return counter.table(least)
