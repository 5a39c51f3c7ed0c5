"""Find the matches of a pattern in a text, exactly as the engine it was written for, and never without end.

A named pattern is known to take linear time: `regex` runs it, about four times as fast as `re`; but its Unicode table
is newer than tiktoken's, so a text with a character on which they differ goes to `re`, with every class spelled out.
Any other pattern is run by a table (`dfa.py`, `regex_ahead.py`). What no table can do is left to backtracking
(`backtracking.py`), with a limit on its time.

Chapter: Regex pre-tokenization. Source: `find_iter` of the crates onig and fancy-regex, which count matches alike.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..cached import cached_property
from .patterns import NamedPattern, recognised

if TYPE_CHECKING:
    from .backtracking import Agreement
    from .regex_sets import Dialect


class Matcher(Protocol):
    """What finds matches."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The (start, end) of the matches in order; an empty one right after another isn't counted."""


@dataclass(frozen=True)
class Pattern:
    """A pattern as Hugging Face's files write it: `{"String": text}`, or `{"Regex": text}` in Oniguruma's dialect.

    >>> list(Pattern("Regex", r"\\s+").spans("a  b c"))
    [(1, 3), (4, 5)]
    >>> list(Pattern("String", "..").spans("a....b"))
    [(1, 3), (3, 5)]

    Raises ValueError for another kind, and as `matcher` for a Regex.
    """

    kind: Literal["String", "Regex"]
    text: str

    def __post_init__(self) -> None:
        if self.kind not in ("String", "Regex"):
            raise ValueError(f"a pattern is a String or a Regex, not {self.kind!r}")
        if self.kind == "Regex":
            matcher(self.text, "oniguruma")

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The (start, end) of the matches in `text`, in order. Raises PatternError where that takes too long."""
        if self.kind == "Regex" or not self.text:
            return matcher(self.text, "oniguruma").spans(text)
        return self._places(text)

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        end = 0
        while (start := text.find(self.text, end)) >= 0:
            end = start + len(self.text)
            yield start, end


@lru_cache(256)
def matcher(pattern: str, dialect: "Dialect") -> Matcher:
    """What finds the matches of `pattern`.

    Raises PatternError for a pattern that is malformed, too large or beyond bpelab, and MissingDependencyError for one
    that only the `regex` package can run where it isn't installed.
    """
    named = recognised(pattern, dialect)
    if named:
        return NamedMatcher(named)
    from .dfa import NotRegular, dfa_for

    try:
        return dfa_for(pattern, dialect)
    except NotRegular as refused:
        reason = refused
    return _without_a_table(pattern, dialect, reason)


def _without_a_table(pattern: str, dialect: "Dialect", reason: Exception) -> Matcher:
    """What runs a pattern that is not regular, for `reason`."""
    from ..errors import MissingDependencyError
    from .backtracking import BacktrackingMatcher, regex_package
    from .dfa import NotRegular
    from .regex_ahead import AheadDFA

    try:
        return AheadDFA(pattern, dialect)
    except NotRegular:
        if regex_package is None:
            raise MissingDependencyError(f"{reason}; the regex package can run it (pip install regex)") from reason
        return BacktrackingMatcher(pattern, dialect)


class NamedMatcher:
    """A named pattern under `regex`, or, for a text on which its table differs, under `re`."""

    def __init__(self, named: NamedPattern) -> None:
        self._named = named

    @cached_property
    def _parts(self) -> tuple[Any, "Agreement"]:
        """What a compiled encoder never asks for, and what takes 10 ms."""
        from .backtracking import Agreement, regex_package
        from .portable import write
        from .regex_syntax import parse

        fast, properties = write(parse(self._named.regex, "rust"), keep_properties=True)
        return regex_package.compile(fast) if regex_package else None, Agreement(properties)

    @cached_property
    def exact(self) -> Any:
        """The pattern for `re`, with every class spelled out."""
        from .portable import portable

        return re.compile(portable(self._named.regex)[0])

    def engine(self, text: str) -> Any:
        """The compiled pattern that cuts `text` right."""
        fast, agreement = self._parts
        return self.exact if fast is None or not agreement.on(text) else fast

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """As `Matcher.spans`; a named pattern has no empty matches."""
        return (match.span() for match in self.engine(text).finditer(text))
