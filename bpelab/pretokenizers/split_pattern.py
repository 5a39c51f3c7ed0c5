"""The pre-tokenizer that Hugging Face's files call Split: `Split` with a pattern as they write it.

Chapter: Regex pre-tokenization. Cost: as for `Split`; that of the search for a String.
"""

from dataclasses import dataclass
from functools import lru_cache

from ..regex.matchers import Pattern
from .base import PreTokenizer
from .split import Split
from .split_behaviors import check_behavior, pieces


@dataclass(frozen=True)
class SplitPattern(PreTokenizer):
    """The pre-tokenizer that Hugging Face's files call Split.

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


@lru_cache(256)
def _isolated(pattern: str) -> Split:
    return Split(pattern, dialect="oniguruma")
