"""Find the matches of a pattern in a text, exactly as the engine it was written for, and never without end.

A named pattern is known to take linear time: `regex` runs it, about four times as fast as `re`; but its Unicode table
is newer than tiktoken's, so a text with a character on which they differ goes to `re`, with every class spelled out.
Any other pattern is run by a table (`regex_dfa.py`, `regex_ahead.py`). What no table can do is left to `regex`, with a
limit on the time that it may take for one text.

Chapter: Regex pre-tokenization. Source: `find_iter` of the crates onig and fancy-regex, which count matches alike.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import active_count
from typing import Any, Literal, Protocol

from ..cached import cached_property
from ..errors import MissingDependencyError, PatternError
from .patterns import PATTERNS, NamedPattern, find_pattern
from .portable import portable, refers, write
from .regex_ahead import AheadDFA
from .regex_dfa import dfa_for
from .regex_nfa import NotRegular
from .regex_nodes import Node, Repeat, children
from .regex_sets import CharSet, Dialect, Property
from .regex_syntax import parse

try:
    from time import thread_time
except ImportError:  # a browser's Python, which has one thread
    from time import process_time as thread_time
try:
    import regex as regex_package
except ImportError:  # a browser's Python, say
    regex_package = None

SECONDS, SECONDS_PER_CHARACTER = 1.0, 1e-5
"""What backtracking searches may take for one text, in its thread's own time: so much, and more for each character."""
MAX_SIZE = 100_000
"""How many nodes a pattern for the backtracking engine may have with its repetitions written out (0.2 s, 50 MB)."""


MAX_REFERRED = 50_000
"""Characters of a text for a pattern with references, whose comparisons may take as long and aren't interrupted."""


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
def matcher(pattern: str, dialect: Dialect) -> Matcher:
    """What finds the matches of `pattern`.

    Raises PatternError for a pattern that is malformed, too large or beyond bpelab, and MissingDependencyError for one
    that only the `regex` package can run where it isn't installed.
    """
    named = recognised(pattern, dialect)
    if named:
        return NamedMatcher(named)
    try:
        return dfa_for(pattern, dialect)
    except NotRegular as refused:
        reason = refused
    try:
        return AheadDFA(pattern, dialect)
    except NotRegular:
        if regex_package is None:
            raise MissingDependencyError(f"{reason}; the regex package can run it (pip install regex)") from reason
        return BacktrackingMatcher(pattern, dialect)


def recognised(pattern: str, dialect: Dialect) -> NamedPattern | None:
    """The named pattern that is meant: by name or either spelling in Rust's dialect, by its spelling in Oniguruma's.

    >>> recognised("r50k_base", "rust").name, recognised("r50k_base", "oniguruma")
    ('gpt2', None)
    """
    if dialect == "rust":
        return find_pattern(pattern)
    return next((named for named in PATTERNS.values() if named.oniguruma == pattern), None)


class NamedMatcher:
    """A named pattern under `regex`, or, for a text on which its table differs, under `re`."""

    def __init__(self, named: NamedPattern) -> None:
        self._named = named

    @cached_property
    def _parts(self) -> tuple[Any, "Agreement"]:
        """What a compiled encoder never asks for, and what takes 10 ms."""
        fast, properties = write(parse(self._named.regex, "rust"), keep_properties=True)
        return regex_package.compile(fast) if regex_package else None, Agreement(properties)

    @cached_property
    def exact(self) -> Any:
        """The pattern for `re`, with every class spelled out."""
        return re.compile(portable(self._named.regex)[0])

    def engine(self, text: str) -> Any:
        """The compiled pattern that cuts `text` right."""
        fast, agreement = self._parts
        return self.exact if fast is None or not agreement.on(text) else fast

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """As `Matcher.spans`; a named pattern has no empty matches."""
        return (match.span() for match in self.engine(text).finditer(text))


class BacktrackingMatcher:
    """Any pattern under `regex`, with a limit on its time."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self._shown = repr(pattern) if len(pattern) <= 200 else repr(pattern[:80]) + "…"
        self._tree = parse(pattern, dialect)
        if _size(self._tree) > MAX_SIZE:
            raise PatternError(f"the pattern {self._shown} has repetitions in repetitions that multiply beyond measure")
        self._refers = refers(self._tree)
        self._fast, self._properties = self._compiled(keep_properties=True)

    def _compiled(self, keep_properties: bool) -> tuple[Any, frozenset[Property]]:
        text, properties = write(self._tree, keep_properties)
        try:
            return regex_package.compile(text, regex_package.V1), properties
        except (regex_package.error, RecursionError, OverflowError, MemoryError, ValueError) as error:
            raise PatternError(f"the pattern {self._shown} is nothing that regex can run: {error}") from error

    @cached_property
    def _exact(self) -> Any:
        return self._compiled(keep_properties=False)[0]

    @cached_property
    def _agreement(self) -> "Agreement":
        return Agreement(self._properties)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """As `Matcher.spans`. Raises PatternError when the time for this text is up."""
        engine = self._fast if self._agreement.on(text) else self._exact
        left = SECONDS + SECONDS_PER_CHARACTER * len(text)
        place, previous = 0, -1
        if self._refers and len(text) > MAX_REFERRED:
            raise PatternError(
                f"the pattern {self._shown} refers to a group; that takes texts up to {MAX_REFERRED:,} characters"
            )
        while place <= len(text):
            started = thread_time()
            try:  # regex counts the time of all threads together, so that its end may come too soon: then once more
                match, known = engine.search(text, place, timeout=left * active_count()), True
            except TimeoutError:
                match, known = None, False
            except MemoryError:
                match, known, left = None, False, 0.0
            left -= max(thread_time() - started, 0.0 if known else 0.001)
            if left <= 0:
                raise PatternError(f"the pattern {self._shown} backtracks without end in this text")
            if not known:
                continue
            if match is None:
                return
            start, end = match.span()
            if start == end == previous:
                place += 1
                continue
            yield start, end
            place = previous = end


def _size(node: Node) -> int:
    """The nodes that `regex` makes of a pattern: it copies the body of a repetition, except of a single set."""
    inner = 1 + sum(map(_size, children(node)))
    return inner * (node.low + 1) if isinstance(node, Repeat) and not isinstance(node.body, CharSet) else inner


class Agreement:
    """Whether the `regex` package puts the characters of a text into the same classes as bpelab does.

    Characters are compared when they are first met, about 2 us each, and remembered.
    """

    def __init__(self, properties: Iterable[Property]) -> None:
        self._properties = [(found, re_of(found.source), [first for first, _ in found.ranges]) for found in properties]
        self._same: set[str] = set()

    def on(self, text: str) -> bool:
        """Whether all of `text` may be left to `regex`."""
        if not self._properties or text.isascii():
            return True
        for char in set(text).difference(self._same):
            if not self._same_class(char):
                return False
            self._same.add(char)
        return True

    def _same_class(self, char: str) -> bool:
        for found, theirs, starts in self._properties:
            place = bisect_right(starts, ord(char)) - 1
            ours = place >= 0 and ord(char) <= found.ranges[place][1]
            if ours != bool(theirs.match(char)):
                return False
        return True


@lru_cache(None)
def re_of(source: str) -> Any:
    """A property of `regex`, compiled."""
    return regex_package.compile(source) if regex_package else None
