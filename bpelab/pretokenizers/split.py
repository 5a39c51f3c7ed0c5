"""Regex pre-tokenization: cut a text into pieces (pre-tokens) with a regular expression. No merge ever crosses a cut.

Each match is a piece, and so is the text between two matches: nothing is lost, and the joined pieces are the text.
Files may ask for other behaviours (`split_behaviors.py`).

Chapter: Regex pre-tokenization. Cost: linear in the text for the named patterns, bounded for all (`regex/matchers.py`).
"""

from __future__ import annotations

from .._support.lazy_property import cached_property
from ..regex.patterns import as_named_pattern
from .base import PreTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..regex.charsets import Dialect
    from .boundary import Boundary
    from .pattern_steps import PatternStep


class Split(PreTokenizer):
    r"""Split by a pattern: one of `patterns.PATTERNS` by name, or any regular expression.

    A regular expression is read as tiktoken's engine reads it, or, with `dialect="oniguruma"`, as Hugging Face's does.
    `behavior` and `invert` are those of `split_behaviors.pieces`.

    >>> Split("gpt2").split("Don't panic, 42 times")
    ['Don', "'t", ' panic', ',', ' 42', ' times']
    >>> Split("[a-z]+").split("ab--cd!")  # gaps are kept
    ['ab', '--', 'cd', '!']
    >>> Split("-", "MergedWithPrevious").split("ab--cd!")
    ['ab-', '-', 'cd!']

    Raises PatternError if the pattern doesn't compile, ValueError for an unknown behaviour, and MissingDependencyError
    if only the `regex` package can run the pattern and it isn't installed.
    """

    def __init__(
        self, pattern: str, behavior: str = "Isolated", invert: bool = False, dialect: Dialect = "rust"
    ) -> None:
        if behavior != "Isolated":
            from .split_behaviors import check_behavior

            check_behavior(behavior)
        named = as_named_pattern(pattern, dialect)
        self.name = named.name if named else None
        self.cuts_words = named is not None and named.cuts_words
        self.pattern = named.regex if named else pattern
        self.behavior, self.invert, self.dialect = behavior, invert, "rust" if named else dialect
        if named is None:
            self._matcher  # noqa: B018 - fail now, not at the first text

    @cached_property
    def _matcher(self) -> Any:
        """Return the pattern's Matcher; for a named pattern, a NamedMatcher."""
        from ..regex.matchers import matcher

        return matcher(self.pattern, self.dialect)

    def __repr__(self) -> str:
        more = "".join(f", {value!r}" for value in self._arguments()[1:])
        return f"Split({self.name or self.pattern!r}{more})"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Split, self._arguments()

    def __eq__(self, other: object) -> bool:
        return self._arguments() == other._arguments() if isinstance(other, Split) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._arguments())

    def _arguments(self) -> tuple[object, ...]:
        """Return the constructor's arguments, without trailing defaults."""
        given = [self.name or self.pattern, self.behavior, self.invert, self.dialect]
        while len(given) > 1 and given[-1] == (None, "Isolated", False, "rust")[len(given) - 1]:
            given.pop()
        return tuple(given)

    @property
    def as_single_split(self) -> Split | None:
        return self if self.behavior == "Isolated" else None

    def split(self, text: str, first: bool = True) -> list[str]:
        """Return the pieces of `text`, in order; joined they are the text, unless the behaviour is Removed."""
        if self.behavior != "Isolated":
            from .split_behaviors import pieces

            return pieces(text, self.spans_of(text), self.behavior, self.invert)
        engine = self._engine(text)
        if engine is not None:
            found: list[str] = engine.findall(text)
            if sum(map(len, found)) == len(text):
                return found
        return list(self._with_gaps(text))

    def iter_split(self, text: str) -> Iterator[str]:
        """Iterate over the pieces, for callers that may stop early."""
        return self._with_gaps(text) if self.behavior == "Isolated" else iter(self.split(text))

    def covered(self, text: str) -> int:
        """Return the number of characters of `text` that the pattern matches; the others lie in the gaps."""
        return sum(end - start for start, end in self._matcher.spans(text))

    def _engine(self, text: str) -> Any:
        """Return the compiled pattern that cuts `text`, or None if the pattern may leave gaps."""
        return self._matcher.engine(text) if self.cuts_words else None

    def _with_gaps(self, text: str) -> Iterator[str]:
        end = 0
        for start, stop in self.spans_of(text):
            if start > end:
                yield text[end:start]
            if stop > start:
                yield text[start:stop]
            end = stop
        if end < len(text):
            yield text[end:]

    def spans_of(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate over the matches. tiktoken ignores an empty match; Hugging Face cuts there."""
        spans: Iterator[tuple[int, int]] = self._matcher.spans(text)
        return spans if self.dialect == "oniguruma" else ((start, end) for start, end in spans if start < end)

    def boundary(self, a: str, b: str) -> Boundary:
        from ..boundaries.dfa_pairs import pairs_of
        from .boundary import boundary_of_pattern

        return boundary_of_pattern(pairs_of(self.pattern, self.dialect), a, b, self.behavior, self.invert)

    def piece_starts(self, text: str, pieces: Sequence[str]) -> list[int]:
        from .split_behaviors import starts_of_remaining

        return starts_of_remaining(self.spans_of(text), len(text), self.invert)

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        from .pattern_steps import regex_step

        step = regex_step(self.pattern, self.behavior, self.invert, self.dialect)
        return None if step is None else [step]
