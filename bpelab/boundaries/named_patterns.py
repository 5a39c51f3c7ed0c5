"""Boundaries of named patterns: offsets at which a cut leaves the pieces of the text as they are, whatever follows.

A boundary is after a letter and before anything but a letter, a mark or an apostrophe: no named pattern has a piece
that goes on there, and no normal form composes a character across it. Texts are full of them (the end of nearly every
word), so a file can be read in blocks and still be cut exactly as a whole.

The pattern of superwords leaves words together. It cuts after a number, and after two marks of punctuation; the other
named patterns do so, too. Such boundaries are rarer: one in some lines of English.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache

from ..unicode.tables import class_body, complement, property_ranges, union


class Cut(IntEnum):
    """Where a text may be cut: at boundaries of the patterns that cut words, nowhere, or at those of all patterns."""

    AT_WORDS = 0
    NOWHERE = 1
    AT_PHRASES = 2


@lru_cache(2)
def _cut(cut: Cut | bool) -> re.Pattern[str]:
    letters, marks, numbers = map(property_ranges, "LMN")
    if cut != Cut.AT_PHRASES:
        stops = complement(union(letters, marks, ((ord("'"), ord("'")),)))
        return re.compile(f"[{class_body(letters)}](?=[{class_body(stops)}])")
    spaces = property_ranges("White_Space")
    signs = complement(union(letters, marks, numbers, spaces))
    number, letter, sign = class_body(numbers), class_body(letters), class_body(signs)
    after_number = f"[{number}](?=[{class_body(complement(union(numbers, marks)))}])"
    return re.compile(f"{after_number}|[{sign}]{{2}}(?=[ {letter}])")


def last_boundary(text: str, end: int, cut: Cut | bool = Cut.AT_WORDS) -> int:
    """Return the last boundary of `text` at or before `end`; 0 without one.

    >>> last_boundary("two words, and", 14)
    9
    >>> last_boundary('the "word", and', 15, Cut.AT_PHRASES)
    11
    """
    window = 64
    while True:
        start = max(0, end - window)
        offsets = [match.end() for match in _cut(cut).finditer(text, start, end)]
        if offsets or start == 0:
            return offsets[-1] if offsets else 0
        window *= 4


def safe_cuts(text: str, start: int, cut: Cut | bool = Cut.AT_WORDS) -> Iterator[int]:
    """Return the boundaries of `text` from `start` on, the last of them before its last character.

    >>> list(safe_cuts("two words, and", 4))
    [9]
    """
    return (match.end() for match in _cut(cut).finditer(text, max(0, start - 1)) if match.end() >= start)


def split_at_boundaries(text: str) -> list[str]:
    """`text` cut at every boundary.

    >>> split_at_boundaries("two words, and")
    ['two', ' words', ', and']
    """
    offsets = [0, *safe_cuts(text, 0), len(text)]
    return [text[a:b] for a, b in zip(offsets, offsets[1:]) if a < b]
