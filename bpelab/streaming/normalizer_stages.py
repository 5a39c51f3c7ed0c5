"""Normalizers as stages: for each the places where a text can be cut before it is normalized.

What looks at single characters holds nothing back; a normal form a character with its marks; a replacement what could
be the beginning of a match. What is put in front or stripped is so at the ends of the whole only. Held until the end: a
Replace whose pattern no table can run or which matches nothing (an empty string), and normalizers that are none of
bpelab's.

Chapter: Streaming. Source: UAX #15, section 9 (boundaries of normal forms); UAX #29 for the character map.
"""

import unicodedata
from functools import lru_cache

from ..normalizers import (
    BertNormalizer,
    ByteLevel,
    Lowercase,
    Nmt,
    Normalizer,
    NormalizerSequence,
    Precompiled,
    Prepend,
    Replace,
    Strip,
    StripAccents,
    UnicodeNormalizer,
    base,
)
from ..normalizers.graphemes import clusters
from ..normalizers.sentencepiece import SentencePieceNormalizer
from .replacing import replacing
from .safe_pairs import REMEMBERED
from .sentencepiece import SentencePieceStage
from .stages import AtPairs, Each, InFront, Row, Stage, Stripped, Whole

_JOINS_BEFORE = range(0x1160, 0x1200)
"""The vowels and finals of Korean syllables, which are no marks, but compose with what stands before."""
_FLAGS = range(0x1F1E6, 0x1F200)


@lru_cache(REMEMBERED)
def normalizes_alone(char: str) -> bool:
    """Whether no normal form ever moves `char` or joins it with what stands before it.

    >>> normalizes_alone("é"), normalizes_alone("\\u0301")
    (True, False)
    """
    first = unicodedata.normalize("NFKD", char)[:1]
    return not unicodedata.category(first).startswith("M") and ord(first) not in _JOINS_BEFORE


@lru_cache(REMEMBERED)
def between_clusters(a: str, b: str) -> bool:
    """Whether a grapheme cluster ends between `a` and `b`, whatever stands before `a`.

    Two regional indicators may be a flag or the halves of two, so nothing is said of them, nor of what is behind a
    mark or a joiner.
    """
    plain = len(list(clusters("x" + a))) == 2 and ord(a) not in _FLAGS
    return plain and len(list(clusters(a + b))) == 2


def stages_of(normalizer: Normalizer | None) -> list[Stage]:
    """The stages that do what `normalizer` does."""
    if normalizer is None:
        return []
    if isinstance(normalizer, NormalizerSequence):
        return [stage for step in normalizer.normalizers for stage in stages_of(step)]
    if isinstance(normalizer, (Lowercase, StripAccents, Nmt, ByteLevel)):
        return [Each(normalizer)]
    if isinstance(normalizer, UnicodeNormalizer):
        return [AtPairs(normalizer, lambda a, b: normalizes_alone(b))]
    if isinstance(normalizer, Strip):
        return [Stripped(normalizer.strip_left, normalizer.strip_right)]
    if isinstance(normalizer, Prepend):
        return [InFront(normalizer.prepend)]
    if isinstance(normalizer, BertNormalizer):
        return _bert(normalizer)
    if isinstance(normalizer, Precompiled):
        return [AtPairs(normalizer, between_clusters)]
    if isinstance(normalizer, SentencePieceNormalizer):
        return [SentencePieceStage(normalizer)]
    if isinstance(normalizer, Replace):
        return [replacing(normalizer, normalizer, lambda text: max(base.MAX_CHARACTERS, base.MAX_FACTOR * len(text)))]
    return [Whole(normalizer)]


def _bert(normalizer: BertNormalizer) -> list[Stage]:
    """Its four steps; only the accents, which are decomposed first, look at more than one character."""
    strips = normalizer.lowercase if normalizer.strip_accents is None else normalizer.strip_accents
    cleans = BertNormalizer(normalizer.clean_text, normalizer.handle_chinese_chars, False, False)
    stages: list[Stage] = [Each(cleans)]
    if strips:
        accents = BertNormalizer(False, False, True, False)
        stages.append(AtPairs(accents, lambda a, b: normalizes_alone(b)))
    return [*stages, Each(Lowercase())] if normalizer.lowercase else stages


def normalizing(normalizer: Normalizer | None) -> Row:
    """The normalizer as one stage."""
    return Row(stages_of(normalizer))
