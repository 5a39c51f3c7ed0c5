"""What each normalizer does to the alignment of a text (see bpelab/alignment/aligned_string.py).

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `normalizers/*.rs`, and the crate
`unicode-normalization-alignments` (`decompose.rs`, `recompose.rs`).
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..normalizers import Normalizer
from ..normalizers.bert import BertNormalizer
from ..normalizers.characters import ByteLevel, Lowercase, Nmt, StripAccents
from ..normalizers.ends import Prepend, Strip
from ..normalizers.forms import NFC, NFD, NFKC, NFKD, UnicodeNormalizer
from ..normalizers.precompiled import Precompiled, read_charsmap
from ..normalizers.replace import Replace
from ..normalizers.sentencepiece import SPACE, SentencePieceNormalizer
from ..unicode.graphemes import clusters
from ..unicode.hf_normalizer_tables import assigned_after_unicode_9
from .aligned_string import AlignedString, CharChange

_MAY_CHANGE = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")


def by_grapheme_clusters(normalizer: Normalizer, given: AlignedString) -> AlignedString:
    """Each grapheme cluster becomes what the normalizer makes of it alone."""
    parts = list(clusters(given.text))
    return given.map_spans(parts, map(normalizer, parts))


def _by_character(normalizer: Normalizer, given: AlignedString) -> AlignedString:
    become = {char: normalizer(char) for char in set(given.text)}
    return given.map_spans(given.text, map(become.__getitem__, given.text))


def _strip(normalizer: Strip, given: AlignedString) -> AlignedString:
    right = len(Strip(False, normalizer.strip_right)(given.text))
    left = len(given.text) - len(Strip(normalizer.strip_left, False)(given.text))
    return replace(given[left : max(left, right)], base=given.base)


def _replace(normalizer: Replace, given: AlignedString) -> AlignedString:
    return given.replace(normalizer.pattern.spans(given.text), normalizer.content)


def _prepend(normalizer: Prepend, given: AlignedString) -> AlignedString:
    return given.prepend(normalizer.prepend)


def _precompiled(normalizer: Precompiled, given: AlignedString) -> AlignedString:
    find = read_charsmap(normalizer.precompiled_charsmap).get
    changes: list[CharChange] = []

    def put(old: str, new: str) -> None:
        more = len(new) - len(old)
        changes.extend((char, int(len(new) - n <= more)) for n, char in enumerate(new))
        if more < 0 and changes:  # what is gone is gone after the last character, whichever that is
            changes[-1] = changes[-1][0], changes[-1][1] + more

    for cluster in clusters(given.text):
        whole = find(cluster) if len(cluster.encode()) < 6 else None
        if whole is not None:
            put(cluster, whole)
            continue
        for char in cluster:
            become = find(char)
            put(char, char if become is None else become)
    return given.transform(changes)


# -- normal forms ------------------------------------------------------------------------------------------------------


def _form(normalizer: UnicodeNormalizer, given: AlignedString) -> AlignedString:
    return given.transform(_form_changes(normalizer, given.text))


def _form_changes(normalizer: UnicodeNormalizer, text: str) -> Iterator[CharChange]:
    """Yield the changes of a normal form. ASCII is only looked at where what follows may join it."""
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
    """(character, change, combining class), marks in order."""
    waiting: list[tuple[str, int, int]] = []
    for char in text:
        for index, part in enumerate(decompose(char)):
            if (order := _class(part)) == 0:
                yield from sorted(waiting, key=lambda item: item[2])
                waiting.clear()
            waiting.append((part, int(index > 0), order))
    yield from sorted(waiting, key=lambda item: item[2])


def _composed(parts: list[tuple[str, int, int]], compose: UnicodeNormalizer) -> Iterator[CharChange]:
    """Yield what is decomposed, composed: a character gets the changes of its parts, less one for each joined to it."""
    starter: CharChange | None = None
    marks: list[CharChange] = []
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


def _sentencepiece(normalizer: SentencePieceNormalizer, given: AlignedString) -> AlignedString:
    """Return the map, then the spaces that are dropped, then the one that is put in front."""
    keeps = replace(normalizer, add_dummy_prefix=False, remove_extra_whitespaces=False)
    found = by_grapheme_clusters(keeps, given)
    space = SPACE if normalizer.escape_whitespaces else " "
    if normalizer.remove_extra_whitespaces:
        kept = found.replace((match.span() for match in re.finditer(f"^{space}+|(?<={space}){space}+", found.text)), "")
        found = replace(kept[: len(kept.text.rstrip(space))], base=given.base)
    return found.prepend(space) if normalizer.add_dummy_prefix else found


RULES: dict[type, Callable[[Any, AlignedString], AlignedString]] = {
    **dict.fromkeys((BertNormalizer, ByteLevel, Lowercase, Nmt, StripAccents), _by_character),
    **dict.fromkeys((NFC, NFD, NFKC, NFKD), _form),
    Precompiled: _precompiled,
    Prepend: _prepend,
    Replace: _replace,
    SentencePieceNormalizer: _sentencepiece,
    Strip: _strip,
}
"""Normalizer -> what it makes of an aligned text."""
