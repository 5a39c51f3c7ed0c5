"""A pattern that no table can run, under the `regex` package, with a limit on the time that it may take for one text.

`regex` backtracks, so that some patterns take exponential time; and its Unicode table is newer than tiktoken's, so that
a text with a character on which they differ is searched by a pattern with every class spelled out.

Chapter: Regex pre-tokenization. Cost: what backtracking costs, up to the limit.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from threading import active_count
from typing import Any

from ..cached import cached_property
from ..errors import PatternError
from .portable import refers, write
from .regex_nodes import Node, Repeat, children
from .regex_sets import CharSet, Dialect, Property
from .regex_syntax import parse

try:
    from time import thread_time
except ImportError:  # a browser's Python, which has one thread
    from time import process_time as thread_time
try:
    import regex
except ImportError:  # a browser's Python, say
    regex = None
regex_package: Any = regex

SECONDS, SECONDS_PER_CHARACTER = 1.0, 1e-5
"""What backtracking searches may take for one text, in its thread's own time: so much, and more for each character."""
MAX_SIZE = 100_000
"""How many nodes a pattern for the backtracking engine may have with its repetitions written out (0.2 s, 50 MB)."""
MAX_REFERRED = 50_000
"""Characters of a text for a pattern with references, whose comparisons may take as long and aren't interrupted."""


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
