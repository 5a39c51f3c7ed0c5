"""Boundaries of named patterns: offsets where a cut doesn't change the pieces of a text, whatever follows.

A boundary is after a letter and before anything but a letter, a mark or an apostrophe. No piece of a named pattern
crosses it, and no normal form composes a character across it. Texts are full of boundaries (the end of nearly every
word), so a file can be read in blocks and still have the same pieces.

The superword pattern leaves words together. It cuts after a number and after two punctuation marks, as the other named
patterns do too. Such boundaries are rarer: one every few lines of English.
"""

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from ..unicode.tables import class_body, property_ranges, union

LOOKAHEAD = 2
"""How many characters after its first one decide a match: a second mark, and the character after it."""


class BoundaryKind(Enum):
    """Where a text may be cut: at boundaries of the patterns that cut words, at those of all patterns, or nowhere."""

    WORDS = "words"
    PHRASES = "phrases"
    NONE = "none"


@lru_cache(2)
def _boundary_pattern(kind: BoundaryKind) -> re.Pattern[str]:
    """Return the pattern whose matches end at boundaries.

    `re` takes one step to find that a letter is in a set, but hundreds, one for each range above U+FFFF, to find that a
    character isn't. So the negative conditions use `[^...]`, and letters above U+FFFF have a set of their own.
    """
    letters, marks, numbers = map(property_ranges, "LMN")
    if kind is not BoundaryKind.PHRASES:
        goes_on = union(letters, marks, ((ord("'"), ord("'")),))
        low, high = (tuple(part for part in letters if (part[0] > 0xFFFF) == above) for above in (False, True))
        return re.compile(
            f"(?:[{class_body(low)}]|(?=[\U00010000-\U0010ffff])[{class_body(high)}])(?=[^{class_body(goes_on)}])"
        )
    word = union(letters, marks, numbers, property_ranges("White_Space"))
    after_number = f"[{class_body(numbers)}](?=[^{class_body(union(numbers, marks))}])"
    return re.compile(f"{after_number}|[^{class_body(word)}]{{2}}(?=[ {class_body(letters)}])")


def last_boundary(text: str, end: int, kind: BoundaryKind = BoundaryKind.WORDS) -> int:
    """Return the last boundary of `text` before `end`, or 0. Cost: linear in its distance.

    >>> last_boundary("two words, and", 14)
    9
    >>> last_boundary('the "word", and', 15, BoundaryKind.PHRASES)
    11
    """
    stop, window = end, 64
    while stop > 0:
        start = max(0, stop - window)
        offsets = [match.end() for match in _boundary_pattern(kind).finditer(text, start, min(end, stop + LOOKAHEAD))]
        if offsets:
            return offsets[-1]
        stop, window = start, window * 4
    return 0


def iter_boundaries(text: str, start: int, kind: BoundaryKind = BoundaryKind.WORDS) -> Iterator[int]:
    """Iterate over the boundaries of `text` from `start` on; the end of the text isn't one.

    >>> list(iter_boundaries("two words, and", 4))
    [9]
    """
    return (match.end() for match in _boundary_pattern(kind).finditer(text, max(0, start - 1)) if match.end() >= start)


def split_at_boundaries(text: str) -> list[str]:
    """Split `text` at every boundary.

    >>> split_at_boundaries("two words, and")
    ['two', ' words', ', and']
    """
    offsets = [0, *iter_boundaries(text, 0), len(text)]
    return [text[a:b] for a, b in zip(offsets, offsets[1:]) if a < b]
