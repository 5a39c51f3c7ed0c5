"""Places where a text can be cut in two, so that the halves give the pieces of the whole, whatever follows.

Such a place is after a letter and before anything but a letter, a mark or an apostrophe: no named pattern has a piece
that goes on there, and no normal form composes a character across it. Texts are full of them (the end of nearly every
word), so a file can be read in blocks and still be cut exactly as a whole.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from .unicode_tables import class_body, complement, property_ranges, union


@lru_cache(1)
def _cut() -> re.Pattern[str]:
    letters, marks = property_ranges("L"), property_ranges("M")
    stops = complement(union(letters, marks, ((ord("'"), ord("'")),)))
    return re.compile(f"[{class_body(letters)}](?=[{class_body(stops)}])")


def last_safe_cut(text: str, end: int) -> int:
    """The last safe place to cut `text` at or before `end`; 0 if there is none.

    >>> last_safe_cut("two words, and", 14)
    9
    """
    window = 64
    while True:
        start = max(0, end - window)
        places = [match.end() for match in _cut().finditer(text, start, end)]
        if places or start == 0:
            return places[-1] if places else 0
        window *= 4


def safe_cuts(text: str, start: int) -> Iterator[int]:
    """The safe places to cut `text` from `start` on, the last of them before its last character.

    >>> list(safe_cuts("two words, and", 4))
    [9]
    """
    return (match.end() for match in _cut().finditer(text, max(0, start - 1)) if match.end() >= start)


def safe_parts(text: str) -> list[str]:
    """`text` cut at every safe place.

    >>> safe_parts("two words, and")
    ['two', ' words', ', and']
    """
    places = [0, *safe_cuts(text, 0), len(text)]
    return [text[a:b] for a, b in zip(places, places[1:]) if a < b]
