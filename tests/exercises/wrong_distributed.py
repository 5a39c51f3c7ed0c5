"""Plausible wrong answers to the exercises of *More than one machine*."""

import zlib

from bpelab.exercises.chapters.distributed import add_tables
from bpelab.trainers import train_naive


def the_last_wins(one, other):
    return {**one, **other}


def in_both(one, other):
    return {word: one[word] + other[word] for word in one if word in other}


def _corpora(tables, again):
    once = {}
    for table in tables:
        once = add_tables(once, table)
    return once, add_tables(once, tables[again])


def counts_too(tables, again, number):
    steps = (list(train_naive(words, number)) for words in _corpora(tables, again))
    return next((rank for rank, (a, b) in enumerate(zip(*steps)) if a != b), None)


def to_the_shorter_end(tables, again, number):
    steps = ([(s.left, s.right) for s in train_naive(words, number)] for words in _corpora(tables, again))
    return next((rank for rank, (a, b) in enumerate(zip(*steps)) if a != b), None)


def at_once(tables, again, number):
    return 0


def in_turn(table, number):
    found = [{} for _ in range(number)]
    for place, (word, count) in enumerate(table.items()):
        found[place % number][word] = count
    return found


def one_table(table, number):
    found = [{}] * number
    for word, count in table.items():
        found[zlib.crc32(word) % number][word] = count
    return found


WRONG = {
    "distributed.1": [the_last_wins, in_both],
    "distributed.2": [counts_too, to_the_shorter_end, at_once],
    "distributed.3": [in_turn, one_table],
}
