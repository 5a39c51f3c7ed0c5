"""Cut a text into pieces (pre-tokens) with a regular expression. No merge ever crosses a cut.

A match is a piece; what a pattern leaves unmatched between two matches is a piece too, so that nothing of the text
is ever lost. The pieces, joined, are the text. Files may ask for other behaviours (`behaviors.py`).

Chapter: Regex pre-tokenization. Cost: linear in the text for the named patterns, bounded for all (`matching.py`).
"""

from __future__ import annotations

from ..cached import cached_property
from .base import PreTokenizer
from .patterns import recognised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .regex_sets import Dialect


class Split(PreTokenizer):
    r"""A pre-tokenizer that cuts by a pattern: one of `patterns.PATTERNS` by name, or any regular expression.

    A regular expression is read as tiktoken's engine does, or, with `dialect="oniguruma"`, as Hugging Face's.
    `behavior` and `invert` say what becomes of a match, as in `behaviors.pieces`.

    >>> Split("gpt2").split("Don't panic, 42 times")
    ['Don', "'t", ' panic', ',', ' 42', ' times']
    >>> Split("[a-z]+").split("ab--cd!")  # gaps are kept
    ['ab', '--', 'cd', '!']
    >>> Split("-", "MergedWithPrevious").split("ab--cd!")
    ['ab-', '-', 'cd!']

    Raises PatternError for a pattern that doesn't compile, ValueError for a behaviour that doesn't exist, and
    MissingDependencyError for a pattern that only the `regex` package can run where it isn't installed.
    """

    def __init__(
        self, pattern: str, behavior: str = "Isolated", invert: bool = False, dialect: Dialect = "rust"
    ) -> None:
        if behavior != "Isolated":
            from .behaviors import check_behavior

            check_behavior(behavior)
        named = recognised(pattern, dialect)
        self.name = named.name if named else None
        self.pattern = named.regex if named else pattern
        self.behavior, self.invert, self.dialect = behavior, invert, "rust" if named else dialect
        if named is None:
            self._matcher  # noqa: B018 - to fail now and not with the first text

    @cached_property
    def _matcher(self) -> Any:
        """A Matcher, which for a named pattern is a NamedMatcher."""
        from .matching import matcher

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
        """The constructor's arguments, without the defaults at the end."""
        given = [self.name or self.pattern, self.behavior, self.invert, self.dialect]
        while len(given) > 1 and given[-1] == (None, "Isolated", False, "rust")[len(given) - 1]:
            given.pop()
        return tuple(given)

    @property
    def sole_split(self) -> Split | None:
        return self if self.behavior == "Isolated" else None

    def split(self, text: str, first: bool = True) -> list[str]:
        """The pieces of `text`, in order; joined they are the text, unless the behaviour is Removed."""
        if self.behavior != "Isolated":
            from .behaviors import pieces

            return pieces(text, self._spans(text), self.behavior, self.invert)
        engine = self._engine(text)
        if engine is not None:
            found: list[str] = engine.findall(text)
            if sum(map(len, found)) == len(text):
                return found
        return list(self._with_gaps(text))

    def iter_split(self, text: str) -> Iterator[str]:
        """The pieces one by one, for callers that may stop early."""
        return self._with_gaps(text) if self.behavior == "Isolated" else iter(self.split(text))

    def covered(self, text: str) -> int:
        """How many characters of `text` the pattern matches; the others are pieces by having no match."""
        return sum(end - start for start, end in self._matcher.spans(text))

    def _engine(self, text: str) -> Any:
        """The compiled pattern that cuts `text` right, where the pattern is a named one."""
        return None if self.name is None else self._matcher.engine(text)

    def _with_gaps(self, text: str) -> Iterator[str]:
        end = 0
        for start, stop in self._spans(text):
            if start > end:
                yield text[end:start]
            if stop > start:
                yield text[start:stop]
            end = stop
        if end < len(text):
            yield text[end:]

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The matches; to tiktoken an empty one is none, to Hugging Face it is a place to cut."""
        spans: Iterator[tuple[int, int]] = self._matcher.spans(text)
        return spans if self.dialect == "oniguruma" else ((start, end) for start, end in spans if start < end)
