"""Compare what C finds by rules, 64 bytes at a time, with the automaton: `python -m tests.native.block_scans SEED`.

A file of its own, so that it also runs on an extension that was built otherwise: with sanitizers, or with a mistake in
its rules. See `sanitized.py`.
"""

import random
import sys
from array import array
from functools import lru_cache
from itertools import accumulate, product

from bpelab.native.plan import dfa_table
from bpelab.regex.pattern_families import AUTOMATA

from ..regex.published import dfas_by_row
from . import sanitized  # noqa: F401 - loads the extension in BPELAB_CORE

CLASSES = ("a", "s", "l", "e", "v", "A", "L", "1", " ", "\t", "\n", "'", "/", ".", "é")
"""A character of each class that the rules distinguish, those of contractions among them, and one beyond ASCII."""
ATOMS = (
    *CLASSES, "'s", "'ll", "'RE", "'v", "t", "Word", " word", "22", "4567", "  ", "\r\n", "\n    ", "   \n", "''", "//",
    "...", " (", "\x7f", "\x1f", "ſ", "中", "\u00a0", "\u2019", "😀", "\u0301", "\u0661", "\u2028", "ǅ", "ª", "K",
    "9", "😀a",
)  # fmt: skip


@lru_cache(1)
def tables():
    """Name -> what C takes, of every automaton that has a family and is that of a published pattern."""
    return {f"{AUTOMATA[row]} {row[:4]}": dfa_table(dfa) for row, dfa in dfas_by_row().items()}


def tables_of(*families):
    return [name for name in tables() if name.rpartition(" ")[0] in families]


def piece_ends(name, texts, instruction_set, final=True, cuts=None):
    """Return the ends of the pieces of each text up to its cut, relative to the texts concatenated, as one array."""
    from bpelab.native._core import piece_ends

    encoded = [text.encode() for text in texts]
    starts = [0, *accumulate(map(len, encoded))]
    stops = array("q", starts[1:])
    if cuts is not None:
        stops = array("q", [start + cut for start, cut in zip(starts, cuts)])
    return array("q", bytes(piece_ends(tables()[name], "".join(texts), stops, final, instruction_set)))


def instruction_sets():
    from bpelab.native._core import INSTRUCTION_SETS

    return INSTRUCTION_SETS


def compare(name, texts, chosen=None):
    """Compare the pieces of texts, each of which is followed by the next, by the chosen instruction sets, or all."""
    expected = piece_ends(name, texts, None)
    for instruction_set in chosen or instruction_sets():
        found = piece_ends(name, texts, instruction_set)
        if found != expected:
            alone = (t for t in texts if piece_ends(name, [t], instruction_set) != piece_ends(name, [t], None))
            one = next(alone, "no text alone, but all together")
            raise AssertionError((name, instruction_set, one))


def compare_cut(name, text, cut):
    """What is found before a cut, where the text goes on, are its first pieces. Returns their number."""
    expected, number = piece_ends(name, [text], None), 0
    at = len(text[:cut].encode())
    for instruction_set in instruction_sets():
        found = piece_ends(name, [text[:cut], text[cut:]], instruction_set, False)
        before = array("q", [end for end in found if end <= at])
        assert before == expected[: len(before)], (name, instruction_set, text, cut)
        number += len(before)
    return number


def all_texts(length, before=""):
    """Lists of texts: all of so many characters, one of each class, after `before`."""
    for first in CLASSES:
        yield [before + first + "".join(rest) for rest in product(CLASSES, repeat=length - 1)]


def edges():
    """What comes before a text, so that it lies across the end of a block of 64 bytes."""
    return [("ab " * 21)[:size] for size in range(59, 64)]


def random_text(rng):
    """A text of a few kinds of characters, with runs across the ends of blocks."""
    kinds, text = rng.sample(ATOMS, rng.randint(1, 8)), ""
    for _ in range(rng.randint(1, 60)):
        atom = rng.choice(kinds) if rng.random() < 0.8 else rng.choice(ATOMS)
        text += atom * (1 if rng.random() < 0.93 else rng.randint(1, 90))
    return text


def compare_random(name, rng, texts):
    """Compare so many random texts, whole and cut. Returns how many pieces before a cut were compared."""
    drawn = [random_text(rng) for _ in range(texts)]
    compare(name, drawn)
    return sum(compare_cut(name, text, rng.randint(0, len(text))) for text in drawn)


if __name__ == "__main__":
    rng = random.Random(sys.argv[1])
    for name in tables():
        for texts in all_texts(4):
            compare(name, texts)
        for before in edges():
            for texts in all_texts(3, before):
                compare(name, texts)
        compare_random(name, rng, 300)
