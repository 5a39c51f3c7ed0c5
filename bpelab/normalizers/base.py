"""The interface of all normalizers: what they do, what streams and offsets need, how long a result may be.

A tokenizer accepts any function from str to str. A `BaseNormalizer` says more: how it works on text that arrives in
parts, and where the characters of its result come from. The defaults are right for any function.

A few lines in a file can ask for a text that doesn't fit in memory: "replace a by ten a", ten times, turns one
character into 10^10. So a normalizer whose result can be much longer than its input checks the length before it builds
the result.

Chapter: Regex pre-tokenization.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import replace
from typing import Protocol

from ..errors import BPELabError
from ..texts.aligned_string import AlignedString, align_common_affixes, by_character, by_grapheme_clusters
from ..texts.stages import BufferAllStage, CharStage, Stage, StageChain

MAX_CHARACTERS = 2**20
"""A result of up to this many characters (1 Mi) is always allowed."""
MAX_FACTOR = 16
"""A result of up to this many times the input's characters is always allowed too. GPT-2's byte alphabet needs 4."""

MAX_DEPTH, MAX_STEPS = 50, 128
"""The deepest nesting of sequences, and the most steps in one."""


class TextTooLongError(BPELabError, ValueError):
    """A normalizer's or decoder's result would be far longer than its input."""


class Normalizer(Protocol):
    """Change a text before it is pre-tokenized."""

    def __call__(self, text: str) -> str:
        """Return the normalized text."""


class BaseNormalizer(ABC):
    """A normalizer that also describes itself to streams and offsets."""

    @abstractmethod
    def __call__(self, text: str) -> str:
        """Return the normalized text."""

    def stages(self) -> list[Stage]:
        """Return stages that, applied in order to a text in parts, do what this does to the whole text.

        By default, all text is held back until the end.
        """
        return [BufferAllStage(self)]

    def align(self, string: AlignedString) -> AlignedString:
        """Return the normalized text, aligned with the original.

        By default, each grapheme cluster is normalized by itself. That needn't always be right: `normalize_aligned`
        compares the result with the normalized whole text.
        """
        return by_grapheme_clusters(self, string)


class CharacterNormalizer(BaseNormalizer):
    """A normalizer that looks at one character at a time."""

    def stages(self) -> list[Stage]:
        return [CharStage(self)]

    def align(self, string: AlignedString) -> AlignedString:
        return by_character(self, string)


class BoundedNormalizer(BaseNormalizer):
    """A normalizer whose result can be much longer than its input.

    `normalizer(text)` raises TextTooLongError if the result would have more than `MAX_CHARACTERS` characters and
    more than `MAX_FACTOR` times those of `text`.
    """

    def __call__(self, text: str) -> str:
        return self.apply_bounded(text, longest_result(text))

    @abstractmethod
    def apply_bounded(self, text: str, limit: int) -> str:
        """Return the normalized text. Raises TextTooLongError if it has more than `limit` characters."""


def stages_of(normalizer: Normalizer) -> list[Stage]:
    """Return the stages of a normalizer; for any other function, one that holds all text back until the end."""
    return normalizer.stages() if isinstance(normalizer, BaseNormalizer) else [BufferAllStage(normalizer)]


def stage_of(normalizer: Normalizer | None) -> StageChain:
    """Return a normalizer as one stage; for None, a stage that passes the text through."""
    return StageChain([] if normalizer is None else stages_of(normalizer))


def normalize_aligned(normalizer: Normalizer | None, string: AlignedString) -> AlignedString:
    """Return the normalized text, aligned with the original.

    If its own `align` is wrong, and for any other function, grapheme clusters are normalized one by one. If the joined
    results differ from the normalized whole, only the common start and end are aligned; the rest stands for all the
    text that it replaces.
    """
    if normalizer is None:
        return string
    become = normalizer(string.text)
    if become == string.text:
        return string
    if not string.text:
        return replace(string, text=become)
    aligned = normalizer.align(string) if isinstance(normalizer, BaseNormalizer) else None
    if aligned is None or aligned.text != become:
        aligned = by_grapheme_clusters(normalizer, string)
    return aligned if aligned.text == become else align_common_affixes(string, become)


def longest_result(text: str) -> int:
    """Return the maximum length, in characters, of a normalizer's result for a text."""
    return max(MAX_CHARACTERS, MAX_FACTOR * len(text))


def check_length(component: object, length: int, limit: int) -> None:
    """Raise TextTooLongError if a result of `length` characters is longer than `limit`."""
    if length > limit:
        raise TextTooLongError(
            f"{type(component).__name__} would make a text of {length:,} characters or more, and {limit:,} are allowed"
            " here; either the tokenizer's file is broken, or the text has to be cut into shorter ones"
        )


def check_depth(depths: Collection[int], most: int = MAX_STEPS) -> int:
    """Return the nesting depth of a sequence whose steps have these `depths`.

    Raises ValueError for a depth over `MAX_DEPTH` and for more than `most` steps.
    """
    if len(depths) > most:
        raise ValueError(f"a Sequence can have at most {most} steps here, and this one has {len(depths):,}")
    depth = 1 + max(depths, default=0)
    if depth > MAX_DEPTH:
        raise ValueError(f"a Sequence can't be nested more than {MAX_DEPTH} deep; list all steps in one")
    return depth
