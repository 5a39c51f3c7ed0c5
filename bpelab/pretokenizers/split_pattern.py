"""Hugging Face's Split pre-tokenizer: `Split` with a pattern as its files write it.

Chapter: Regex pre-tokenization. Cost: as for `Split`; for a String, a string search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..boundaries.dfa_pairs import pairs_of_pattern
from ..regex.matchers import Pattern
from .base import PreTokenizer
from .boundary import Boundary, boundary_of_pattern
from .pattern_steps import PatternStep, regex_step, string_step
from .split import Split
from .split_behaviors import check_behavior, pieces, starts_of_remaining


@dataclass(frozen=True)
class SplitPattern(PreTokenizer):
    """Hugging Face's Split pre-tokenizer.

    >>> SplitPattern(Pattern("String", " "), "MergedWithNext", False).split("a b c")
    ['a', ' b', ' c']

    Raises ValueError for a behaviour that doesn't exist.
    """

    pattern: Pattern
    behavior: str
    invert: bool = False

    def __post_init__(self) -> None:
        check_behavior(self.behavior)

    @property
    def as_single_split(self) -> Split | None:
        isolates = self.behavior == "Isolated" and self.pattern.kind == "Regex"
        return _isolated(self.pattern.text) if isolates else None

    def split(self, text: str, first: bool = True) -> list[str]:
        """Return the pieces of `text`, in order, without empty ones."""
        if (split := self.as_single_split) is not None:
            return split.split(text)
        return pieces(text, self.pattern.spans(text), self.behavior, self.invert)

    def boundary(self, a: str, b: str) -> Boundary:
        return boundary_of_pattern(pairs_of_pattern(self.pattern), a, b, self.behavior, self.invert)

    def piece_starts(self, text: str, pieces: Sequence[str]) -> list[int]:
        return starts_of_remaining(self.pattern.spans(text), len(text), self.invert)

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        if self.pattern.kind == "Regex":
            step = regex_step(self.pattern.text, self.behavior, self.invert, "oniguruma")
        else:
            step = None if self.invert else string_step(self.pattern.text, self.behavior)
        return None if step is None else [step]


@lru_cache(256)
def _isolated(pattern: str) -> Split:
    return Split(pattern, dialect="oniguruma")
