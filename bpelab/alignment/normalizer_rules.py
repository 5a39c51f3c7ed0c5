"""What each normalizer does to the alignment of a text (see bpelab/alignment.py).

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `normalizers/*.rs`, and the crate
`unicode-normalization-alignments` (`decompose.rs`, `recompose.rs`).
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..alignment import Aligned, Change
from . import Normalizer
from .bert import BertNormalizer
from .characters import ByteLevel, Lowercase, Nmt, Prepend, Strip, StripAccents
from .forms import NFC, NFD, NFKC, NFKD, UnicodeNormalizer
from .graphemes import clusters
from .older_unicode import unknown_to_unicode_9
from .precompiled import Precompiled, read_charsmap
from .replace import Replace
from .sentencepiece import SPACE, SentencePieceNormalizer

_MAY_CHANGE = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


def by_clusters(normalizer: Normalizer, given: Aligned) -> Aligned:
    """Each grapheme cluster becomes what the normalizer makes of it alone."""
    parts = list(clusters(given.text))
    return given.mapped(parts, map(normalizer, parts))


def _by_character(normalizer: Normalizer, given: Aligned) -> Aligned:
    become = {char: normalizer(char) for char in set(given.text)}
    return given.mapped(given.text, map(become.__getitem__, given.text))


def _strip(normalizer: Strip, given: Aligned) -> Aligned:
    right = len(Strip(False, normalizer.strip_right)(given.text))
    left = len(given.text) - len(Strip(normalizer.strip_left, False)(given.text))
    return replace(given.part(left, max(left, right)), base=given.base)


def _replace(normalizer: Replace, given: Aligned) -> Aligned:
    return given.replaced(normalizer.pattern.spans(given.text), normalizer.content)


def _prepend(normalizer: Prepend, given: Aligned) -> Aligned:
    return given.prepended(normalizer.prepend)


def _precompiled(normalizer: Precompiled, given: Aligned) -> Aligned:
    find = read_charsmap(normalizer.precompiled_charsmap).get
    changes: list[Change] = []

    def put(old: str, new: str) -> None:
        more = len(new) - len(old)
        changes.extend((char, int(len(new) - n <= more)) for n, char in enumerate(new))
        if more < 0 and changes:  # what is gone is gone behind the last character, whichever that is
            changes[-1] = changes[-1][0], changes[-1][1] + more

    for cluster in clusters(given.text):
        whole = find(cluster) if len(cluster.encode()) < 6 else None
        if whole is not None:
            put(cluster, whole)
            continue
        for char in cluster:
            become = find(char)
            put(char, char if become is None else become)
    return given.changed(changes)


# -- normal forms ------------------------------------------------------------------------------------------------------


def _form(normalizer: UnicodeNormalizer, given: Aligned) -> Aligned:
    return given.changed(_form_changes(normalizer, given.text))


def _form_changes(normalizer: UnicodeNormalizer, text: str) -> Iterator[Change]:
    """The changes of a normal form. ASCII is only looked at where what follows may join it."""
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
    return 0 if unknown_to_unicode_9().fullmatch(char) else unicodedata.combining(char)


def _decomposed(decompose: UnicodeNormalizer, text: str) -> Iterator[tuple[str, int, int]]:
    """(character, change, combining class), marks in order."""
    waiting: list[tuple[str, int, int]] = []
    for char in text:
        for number, part in enumerate(decompose(char)):
            if (order := _class(part)) == 0:
                yield from sorted(waiting, key=lambda item: item[2])
                waiting.clear()
            waiting.append((part, int(number > 0), order))
    yield from sorted(waiting, key=lambda item: item[2])


def _composed(parts: list[tuple[str, int, int]], compose: UnicodeNormalizer) -> Iterator[Change]:
    """What is decomposed, composed: a character gets the changes of its parts, less one for each that joined it."""
    starter: Change | None = None
    marks: list[Change] = []
    last = 0  # the class of the last of the marks that stay
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


# -- SentencePiece's own -----------------------------------------------------------------------------------------------


def _sentencepiece(normalizer: SentencePieceNormalizer, given: Aligned) -> Aligned:
    """The map, then the spaces that are dropped, then the one that is put in front."""
    keeps = replace(normalizer, add_dummy_prefix=False, remove_extra_whitespaces=False)
    found = by_clusters(keeps, given)
    space = SPACE if normalizer.escape_whitespaces else " "
    if normalizer.remove_extra_whitespaces:
        kept = found.replaced(
            (match.span() for match in re.finditer(f"^{space}+|(?<={space}){space}+", found.text)), ""
        )
        found = replace(kept.part(0, len(kept.text.rstrip(space))), base=given.base)
    return found.prepended(space) if normalizer.add_dummy_prefix else found


RULES: dict[type, Callable[[Any, Aligned], Aligned]] = {
    **dict.fromkeys((BertNormalizer, ByteLevel, Lowercase, Nmt, StripAccents), _by_character),
    **dict.fromkeys((NFC, NFD, NFKC, NFKD), _form),
    Precompiled: _precompiled,
    Prepend: _prepend,
    Replace: _replace,
    SentencePieceNormalizer: _sentencepiece,
    Strip: _strip,
}
"""Normalizer -> what it makes of an aligned text."""
