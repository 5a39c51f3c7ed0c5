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

from ..unicode.tables import class_body, property_ranges, union

LOOKAHEAD = 2
"""Characters after the first one of a match that say whether it is one: a second mark, and what follows it."""


class Cut(IntEnum):
    """Where a text may be cut: at boundaries of the patterns that cut words, nowhere, or at those of all patterns."""

    AT_WORDS = 0
    NOWHERE = 1
    AT_PHRASES = 2


@lru_cache(2)
def _cut(cut: Cut | bool) -> re.Pattern[str]:
    """Return the pattern whose matches end at boundaries.

    What is excluded is written as `[^...]`: `re` tells in one step that a letter is in a set, and needs hundreds, one
    for each range beyond U+FFFF, to tell that it isn't.
    """
    letters, marks, numbers = map(property_ranges, "LMN")
    if cut != Cut.AT_PHRASES:
        goes_on = union(letters, marks, ((ord("'"), ord("'")),))
        return re.compile(f"[{class_body(letters)}](?=[^{class_body(goes_on)}])")
    word = union(letters, marks, numbers, property_ranges("White_Space"))
    after_number = f"[{class_body(numbers)}](?=[^{class_body(union(numbers, marks))}])"
    return re.compile(f"{after_number}|[^{class_body(word)}]{{2}}(?=[ {class_body(letters)}])")


def last_boundary(text: str, end: int, cut: Cut | bool = Cut.AT_WORDS) -> int:
    """Return the last boundary of `text` before `end`; 0 without one. Cost: linear in how far away it is.

    >>> last_boundary("two words, and", 14)
    9
    >>> last_boundary('the "word", and', 15, Cut.AT_PHRASES)
    11
    """
    stop, window = end, 64
    while stop > 0:
        start = max(0, stop - window)
        offsets = [match.end() for match in _cut(cut).finditer(text, start, min(end, stop + LOOKAHEAD))]
        if offsets:
            return offsets[-1]
        stop, window = start, window * 4
    return 0


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
