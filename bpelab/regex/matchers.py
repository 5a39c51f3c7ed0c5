"""Find the matches of a pattern in a text, exactly as the engine it was written for would, in bounded time.

A named pattern is known to take linear time. `regex` runs it, about four times as fast as `re`. But its Unicode table
is newer than tiktoken's, so a text with a character on which they differ goes to `re`, with every class spelled out.
Any other pattern runs on a DFA (`dfa.py`, `lookahead.py`), or, if no DFA can run it, on a backtracking engine under a
time limit (`backtracking.py`).

Chapter: Regex pre-tokenization. Source: `find_iter` of the crates onig and fancy-regex, which count the same matches.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .._support.lazy_property import cached_property
from .patterns import NamedPattern, as_named_pattern

if TYPE_CHECKING:
    from .backtracking import UnicodeAgreement
    from .charsets import Dialect


class Matcher(Protocol):
    """Finds the matches of a pattern."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate over the (start, end) of the matches, without an empty match directly after another match."""


@dataclass(frozen=True)
class Pattern:
    """A pattern as Hugging Face's files write it: `{"String": text}`, or `{"Regex": text}` in Oniguruma's dialect.

    >>> list(Pattern("Regex", r"\\s+").spans("a  b c"))
    [(1, 3), (4, 5)]
    >>> list(Pattern("String", "..").spans("a....b"))
    [(1, 3), (3, 5)]

    Raises ValueError for an unknown kind and, for a Regex, the errors of `matcher`.
    """

    kind: Literal["String", "Regex"]
    text: str

    def __post_init__(self) -> None:
        if self.kind not in ("String", "Regex"):
            raise ValueError(f"a pattern is a String or a Regex, not {self.kind!r}")
        if self.kind == "Regex":
            matcher(self.text, "oniguruma")

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate over the (start, end) of the matches in `text`. Raises PatternError if that takes too long."""
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
    """Return the matcher for `pattern`.

    Raises PatternError if the pattern is malformed, too large or not supported, and MissingDependencyError if it needs
    the `regex` package and that isn't installed.
    """
    named_pattern = as_named_pattern(pattern, dialect)
    if named_pattern:
        return NamedMatcher(named_pattern)
    from .dfa import NotRegular, dfa_for

    try:
        return dfa_for(pattern, dialect)
    except NotRegular as refused:
        reason = refused
    return _without_a_table(pattern, dialect, reason)


def _without_a_table(pattern: str, dialect: "Dialect", reason: Exception) -> Matcher:
    """Return a matcher for a pattern that plain DFAs can't run; `reason` says why."""
    from ..errors import MissingDependencyError
    from .backtracking import BacktrackingMatcher, regex_package
    from .dfa import NotRegular
    from .lookahead import AheadDFA

    try:
        return AheadDFA(pattern, dialect)
    except NotRegular:
        if regex_package is None:
            raise MissingDependencyError(f"{reason}; the regex package can run it (pip install regex)") from reason
        return BacktrackingMatcher(pattern, dialect)


class NamedMatcher:
    """Runs a named pattern with `regex`, or with `re` for a text on which the Unicode table of `regex` differs."""

    def __init__(self, pattern: NamedPattern) -> None:
        self._pattern = pattern

    @cached_property
    def _parts(self) -> tuple[Any, "UnicodeAgreement"]:
        """Compile the pattern for `regex`, lazily: it takes 10 ms, and the encoder in C never needs it."""
        from .backtracking import UnicodeAgreement, regex_package
        from .parser import parse
        from .translate import write

        fast, properties = write(parse(self._pattern.regex, "rust"), keep_properties=True)
        compiled = regex_package.compile(fast, regex_package.V1) if regex_package else None  # V1 has && in classes
        return compiled, UnicodeAgreement(properties)

    @cached_property
    def exact(self) -> Any:
        """Compile the pattern for `re`, with every class spelled out."""
        from .translate import portable

        return re.compile(portable(self._pattern.regex)[0])

    def engine(self, text: str) -> Any:
        """Return the compiled pattern that cuts `text` correctly."""
        fast, agreement = self._parts
        return self.exact if fast is None or not agreement.on(text) else fast

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate as `Matcher.spans` does; a named pattern has no empty matches."""
        return (match.span() for match in self.engine(text).finditer(text))
