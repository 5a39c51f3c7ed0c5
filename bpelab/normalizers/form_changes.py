"""The changes of the four normal forms: which characters are inserted, replaced or removed.

Chapter: File formats. Cost: linear. Source: the crate `unicode-normalization-alignments` (`decompose.rs`,
`recompose.rs`).
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from ..texts.aligned_string import CharChange
from ..unicode.hf_normalizer_tables import assigned_after_unicode_9
from .forms import NFC, NFD, NFKC, NFKD, UnicodeNormalizer

_MAY_CHANGE = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


def form_changes(normalizer: UnicodeNormalizer, text: str) -> Iterator[CharChange]:
    """Yield the changes of a normal form. ASCII is only examined before a character that may combine with it."""
    decompose, compose = (NFKD(), NFKC()) if normalizer.form in ("NFKC", "NFKD") else (NFD(), NFC())
    end = 0
    for match in _MAY_CHANGE.finditer(text):
        for char in text[end : match.start()]:
            yield char, 0
        if normalizer(match[0]) == match[0]:
            for char in match[0]:
                yield char, 0
        elif normalizer.form in ("NFC", "NFKC"):
            yield from _composed(list(_decomposed(decompose, match[0])), compose)
        else:
            for char, change, _ in _decomposed(decompose, match[0]):
                yield char, change
        end = match.end()
    for char in text[end:]:
        yield char, 0


@lru_cache(1 << 12)
def _class(char: str) -> int:
    return 0 if assigned_after_unicode_9().fullmatch(char) else unicodedata.combining(char)


def _decomposed(decompose: UnicodeNormalizer, text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (character, change, combining class) of the decomposed text, marks in canonical order."""
    waiting: list[tuple[str, int, int]] = []
    for char in text:
        for index, part in enumerate(decompose(char)):
            if (order := _class(part)) == 0:
                yield from sorted(waiting, key=lambda item: item[2])
                waiting.clear()
            waiting.append((part, int(index > 0), order))
    yield from sorted(waiting, key=lambda item: item[2])


def _composed(parts: list[tuple[str, int, int]], compose: UnicodeNormalizer) -> Iterator[CharChange]:
    """Compose decomposed text. A character gets the changes of its parts, minus one for each part joined to it."""
    starter: CharChange | None = None
    marks: list[CharChange] = []
    last = 0  # the class of the last mark that isn't joined
    for char, change, order in parts:
        if starter is None:
            if order:
                yield char, change
            else:
                starter = char, change
            continue
        joined = compose(starter[0] + char) if not marks or last < order else ""
        if len(joined) == 1:
            starter = joined, starter[1] + change - 1
        elif order:
            marks.append((char, change))
            last = order
        else:
            yield starter
            yield from marks
            starter, marks = (char, change), []
    if starter is not None:
        yield starter
    yield from marks
