"""Normalizers as stages: for each, the boundaries at which a text can be cut before it is normalized.

What looks at single characters holds nothing back; a normal form a character with its marks; a replacement what could
be the beginning of a match. What is put in front or stripped is so at the ends of the whole only. Held until the end: a
Replace whose pattern no table can run or which matches nothing (an empty string), and normalizers that are none of
bpelab's.

Chapter: Streaming. Source: UAX #15, section 9 (boundaries of normal forms); UAX #29 for the character map.
"""

import unicodedata
from functools import lru_cache, singledispatch

from ..boundaries.dfa_pairs import REMEMBERED
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
from ..normalizers.sentencepiece import SentencePieceNormalizer
from ..unicode.graphemes import clusters
from .replace_stage import replacing
from .sentencepiece_stage import SentencePieceStage
from .stages import BoundaryStage, BufferAllStage, CharStage, PrependStage, Stage, StageChain, StripStage

_JOINS_BEFORE = range(0x1160, 0x1200)
"""The vowels and finals of Korean syllables, which are no marks, but compose with what is before."""
_FLAGS = range(0x1F1E6, 0x1F200)


@lru_cache(REMEMBERED)
def normalizes_alone(char: str) -> bool:
    """Whether no normal form ever moves `char` or joins it with what is before it.

    >>> normalizes_alone("é"), normalizes_alone("\\u0301")
    (True, False)
    """
    first = unicodedata.normalize("NFKD", char)[:1]
    return not unicodedata.category(first).startswith("M") and ord(first) not in _JOINS_BEFORE


@lru_cache(REMEMBERED)
def between_clusters(a: str, b: str) -> bool:
    """Whether a grapheme cluster ends between `a` and `b`, whatever is before `a`.

    Two regional indicators may be a flag or the halves of two, so nothing is said of them, nor of what is after a
    mark or a joiner.
    """
    plain = len(list(clusters("x" + a))) == 2 and ord(a) not in _FLAGS
    return plain and len(list(clusters(a + b))) == 2


@singledispatch
def stages_of(normalizer: Normalizer) -> list[Stage]:
    """Return the stages that do what `normalizer` does; of a class that isn't registered, one that holds all back."""
    return [BufferAllStage(normalizer)]


@stages_of.register
def _(normalizer: NormalizerSequence) -> list[Stage]:
    return [stage for step in normalizer.normalizers for stage in stages_of(step)]


@stages_of.register(Lowercase)
@stages_of.register(StripAccents)
@stages_of.register(Nmt)
@stages_of.register(ByteLevel)
def _(normalizer: Normalizer) -> list[Stage]:
    return [CharStage(normalizer)]


@stages_of.register
def _(normalizer: UnicodeNormalizer) -> list[Stage]:
    return [BoundaryStage(normalizer, lambda a, b: normalizes_alone(b))]


@stages_of.register
def _(normalizer: Strip) -> list[Stage]:
    return [StripStage(normalizer.strip_left, normalizer.strip_right)]


@stages_of.register
def _(normalizer: Prepend) -> list[Stage]:
    return [PrependStage(normalizer.prepend)]


@stages_of.register
def _(normalizer: Precompiled) -> list[Stage]:
    return [BoundaryStage(normalizer, between_clusters)]


@stages_of.register
def _(normalizer: SentencePieceNormalizer) -> list[Stage]:
    return [SentencePieceStage(normalizer)]


@stages_of.register
def _(normalizer: Replace) -> list[Stage]:
    return [replacing(normalizer, normalizer, lambda text: max(base.MAX_CHARACTERS, base.MAX_FACTOR * len(text)))]


@stages_of.register
def _(normalizer: BertNormalizer) -> list[Stage]:
    """Return its four steps; only the accents, which are decomposed first, look at more than one character."""
    strips = normalizer.lowercase if normalizer.strip_accents is None else normalizer.strip_accents
    cleans = BertNormalizer(normalizer.clean_text, normalizer.handle_chinese_chars, False, False)
    stages: list[Stage] = [CharStage(cleans)]
    if strips:
        accents = BertNormalizer(False, False, True, False)
        stages.append(BoundaryStage(accents, lambda a, b: normalizes_alone(b)))
    return [*stages, CharStage(Lowercase())] if normalizer.lowercase else stages


def normalizing(normalizer: Normalizer | None) -> StageChain:
    """Return the normalizer as one stage."""
    return StageChain([] if normalizer is None else stages_of(normalizer))
