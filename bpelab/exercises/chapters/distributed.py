"""The exercises of *More than one machine*."""

import zlib
from collections.abc import Iterator
from itertools import zip_longest

from ...trainers.naive import train_naive
from ..exercise import Exercise
from ..fixtures import CORPORA


def add_tables(one: dict, other: dict) -> dict:
    """Return a new table with the added counts of both (dicts of bytes -> int)."""
    total = dict(one)
    for word, count in other.items():
        total[word] = total.get(word, 0) + count
    return total


def first_changed(tables, again, number):
    """Return the rank of the first of `number` merges that changes when table
    `again` of the list is counted twice; None if none changes."""
    once: dict[bytes, int] = {}
    for table in tables:
        once = add_tables(once, table)
    twice = add_tables(once, tables[again])
    pairs = ([(step.left, step.right) for step in train_naive(words, number)] for words in (once, twice))
    return next((rank for rank, (a, b) in enumerate(zip_longest(*pairs)) if a != b), None)


def in_buckets(table, number):
    """Return a list of `number` tables: each word of `table` goes into the table
    numbered zlib.crc32(word) modulo `number`."""
    found: list[dict[bytes, int]] = [{} for _ in range(number)]
    for word, count in table.items():
        found[zlib.crc32(word) % number][word] = count
    return found


def _pairs() -> Iterator[tuple[dict[bytes, int], dict[bytes, int]]]:
    yield {}, {}
    for one, other in zip(CORPORA, [*CORPORA[1:], {}]):
        yield dict(one), dict(other)
    yield {b"low": 5, b"er": 1}, {b"low": 2, b"est": 3}


def _twice() -> Iterator[tuple[list[dict[bytes, int]], int, int]]:
    yield [{b"ab": 3}, {b"cd": 2}], 1, 1
    yield [{b"ab": 3}, {b"cd": 2}], 0, 2
    yield [{b"ab": 1}, {b"cd": 2}], 0, 2
    for again in range(3):
        yield [{b"low": 5, b"lower": 2}, {b"newest": 6, b"widest": 3}, {b"banana": 2, b"low": 1}], again, 8
    yield [{b"ab": 3}], 0, 5
    yield [{b"xy": 1}, {b"ab": 2}], 0, 4
    yield [{b"ab": 2, b"cd": 2}, {b"cd": 1}, {b"ab": 2, b"cd": 2}], 2, 3


def _tables() -> Iterator[tuple[dict[bytes, int], int]]:
    yield {}, 2
    for table in CORPORA[7:]:
        for number in (1, 2, 3, 16):
            yield dict(table), number


EXERCISES = [
    Exercise(
        "distributed.1",
        "Two tables",
        add_tables,
        _pairs,
        (
            "A word that is in both has the sum of its counts.",
            "Start with a copy of the first table: dict(one). Then go through the other's items.",
        ),
        level="easy",
        next_step="The order in which machines report can't matter, since addition doesn't care.",
    ),
    Exercise(
        "distributed.2",
        "Counted twice",
        first_changed,
        _twice,
        (
            "Add all tables with your add_tables; add tables[again] once more for the second corpus.",
            "train_naive(words, number) yields steps with .left and .right. Leave the counts out of the comparison: "
            "they differ long before a merge does.",
            "One list of merges may be longer than the other, because a pair that occurred once now occurs twice. "
            "itertools.zip_longest goes to the end of both.",
        ),
        level="medium",
        next_step="How small can the table be that still changes a merge?",
        is_valid=lambda tables, again, number: 0 <= again < len(tables),
    ),
    Exercise(
        "distributed.3",
        "Buckets",
        in_buckets,
        _tables,
        (
            "Make the empty tables first, one dict for each bucket: [{} for _ in range(number)].",
            "Python's hash() of bytes is different in each process; zlib.crc32 is the same everywhere.",
        ),
        level="easy",
        next_step="Python's `hash` of bytes differs from process to process. Start Python twice and see.",
        is_valid=lambda table, number: number >= 1,
    ),
]
