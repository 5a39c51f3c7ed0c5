"""Backtracking search with the `regex` package, under a time limit, for the patterns that no DFA can run.

`regex` backtracks, so some patterns take exponential time. Its Unicode table is newer than tiktoken's, so a text with
a character on which they differ is searched with every class spelled out.

Chapter: Regex pre-tokenization. Cost: that of backtracking, up to the limit.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from threading import active_count
from typing import Any

from .._support.lazy_property import cached_property
from ..errors import PatternError
from .ast import Node, Repeat, children
from .charsets import CharSet, Dialect, Property
from .parser import parse
from .translate import has_backreference, write

try:
    from time import thread_time
except ImportError:  # a browser's Python, which has one thread
    from time import process_time as thread_time
try:
    import regex
except ImportError:  # for example, a browser's Python
    regex = None
regex_package: Any = regex

SECONDS, SECONDS_PER_CHARACTER = 1.0, 1e-5
"""Time limit for the searches in one text, in seconds of the thread's CPU time: a base, plus a share per character."""
MAX_SIZE = 100_000
"""The most nodes that a backtracking pattern may have once its repetitions are expanded (0.2 s, 50 MB)."""
MAX_REFERRED = 50_000
"""The longest text, in characters, for a pattern with references: comparing a group can't be interrupted."""


class BacktrackingMatcher:
    """Runs any pattern with `regex`, under a time limit."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self._shown = repr(pattern) if len(pattern) <= 200 else repr(pattern[:80]) + "…"
        self._tree = parse(pattern, dialect)
        if _size(self._tree) > MAX_SIZE:
            raise PatternError(f"the pattern {self._shown} has nested repetitions that multiply to too many")
        self._refers = has_backreference(self._tree)
        self._fast, self._properties = self._compiled(keep_properties=True)

    def _compiled(self, keep_properties: bool) -> tuple[Any, frozenset[Property]]:
        text, properties = write(self._tree, keep_properties)
        try:
            return regex_package.compile(text, regex_package.V1), properties
        except (regex_package.error, RecursionError, OverflowError, MemoryError, ValueError) as error:
            raise PatternError(f"the regex package can't run the pattern {self._shown}: {error}") from error

    @cached_property
    def _exact(self) -> Any:
        return self._compiled(keep_properties=False)[0]

    @cached_property
    def _agreement(self) -> "UnicodeAgreement":
        return UnicodeAgreement(self._properties)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate as `Matcher.spans` does. Raises PatternError when the search exceeds the time limit."""
        engine = self._fast if self._agreement.on(text) else self._exact
        left = SECONDS + SECONDS_PER_CHARACTER * len(text)
        offset, previous = 0, -1
        if self._refers and len(text) > MAX_REFERRED:
            raise PatternError(
                f"the pattern {self._shown} has a backreference, so texts can have at most {MAX_REFERRED:,} characters"
            )
        while offset <= len(text):
            started = thread_time()
            try:  # regex counts the time of all threads, so it may time out too early; then search again
                match, known = engine.search(text, offset, timeout=left * active_count()), True
            except TimeoutError:
                match, known = None, False
            except MemoryError:
                match, known, left = None, False, 0.0
            left -= max(thread_time() - started, 0.0 if known else 0.001)
            if left <= 0:
                raise PatternError(f"the pattern {self._shown} backtracks too long in this text")
            if not known:
                continue
            if match is None:
                return
            start, end = match.span()
            if start == end == previous:
                offset += 1
                continue
            yield start, end
            offset = previous = end


def _size(node: Node) -> int:
    """Count the nodes that `regex` needs: it copies the body of a repetition unless the body is a single set."""
    inner = 1 + sum(map(_size, children(node)))
    return inner * (node.low + 1) if isinstance(node, Repeat) and not isinstance(node.body, CharSet) else inner


class UnicodeAgreement:
    """Checks whether the `regex` package puts the characters of a text into the same classes as bpelab.

    Each character is compared once, on first use, in about 2 us.
    """

    def __init__(self, properties: Iterable[Property]) -> None:
        self._properties = [
            (found, compile_property(found.source), [first for first, _ in found.ranges]) for found in properties
        ]
        self._same: set[str] = set()

    def on(self, text: str) -> bool:
        """Return whether the classes agree on every character of `text`, so that `regex` may search it."""
        if not self._properties or text.isascii():
            return True
        for char in set(text).difference(self._same):
            if not self._same_class(char):
                return False
            self._same.add(char)
        return True

    def _same_class(self, char: str) -> bool:
        for found, theirs, starts in self._properties:
            offset = bisect_right(starts, ord(char)) - 1
            ours = offset >= 0 and ord(char) <= found.ranges[offset][1]
            if ours != bool(theirs.match(char)):
                return False
        return True


@lru_cache(None)
def compile_property(source: str) -> Any:
    """Compile a property for `regex`, or return None without the package."""
    return regex_package.compile(source) if regex_package else None
