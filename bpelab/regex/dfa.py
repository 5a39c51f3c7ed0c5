r"""Search with a DFA: one table lookup per character, whatever the pattern and the text.

The table of a deterministic finite automaton has a row for each state and a column for each character class. If a
pattern often reads far ahead in vain, as `a*b|a` does on "aaaa...", the search remembers which states failed at which
offset and doesn't try them again. Cost: linear in the text. Chapter: Regex pre-tokenization.
Source: Reps 1998, "Maximal-munch tokenization in linear time".
"""

from __future__ import annotations

import os.path
import sys
from array import array
from collections import namedtuple
from functools import lru_cache

from .._support.lazy_property import cached_property
from ..errors import PatternError
from .patterns import PATTERNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .charsets import Dialect

BLOCKS = 0x1100
"""The number of blocks of 256 code points in Unicode."""

MAX_MEMORY = 64_000_000
"""The most bytes for remembered failures."""


class NotRegular(PatternError):
    """The pattern has a construct that no automaton of bounded size and one character of lookahead can run."""


class _Codes(dict[int, int]):
    """A dict from code point to class for `str.translate`, filled lazily."""

    def __init__(self, stage1: array[int], stage2: bytes) -> None:
        self.stage1, self.stage2 = stage1, stage2

    def __missing__(self, code_point: int) -> int:
        found = self.stage2[self.stage1[code_point >> 8] << 8 | code_point & 255]
        if len(self) < 100_000:
            self[code_point] = found
        return found


class DFA(namedtuple("DFA", "stage1 stage2 width trans entries")):
    """A deterministic finite automaton: character classes and a transition table.

    The class of the character c is `stage2[stage1[c >> 8] * 256 + (c & 255)]`; the last class, `width` - 1, is the
    edge of the text. `trans[state * width + class]` is twice the next state, plus 1 if a match ends before this
    character. State 0 ends a search; `entries[class]` is the initial state after a character of that class,
    always 1 where the pattern has no lookbehind.
    """

    stage1: array[int]
    stage2: bytes
    width: int
    trans: array[int]
    entries: tuple[int, ...]

    @cached_property
    def codes(self) -> _Codes:
        return _Codes(self.stage1, self.stage2)

    @cached_property
    def _scaled(self) -> tuple[list[int], list[int]]:
        """Return the table with states premultiplied by `width` (row offsets), and the entries likewise."""
        return [(t >> 1) * self.width << 1 | t & 1 for t in self.trans], [e * self.width for e in self.entries]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Iterate over the (start, end) of the matches, without an empty match directly after another match.

        Raises PatternError if the search takes more than 20 steps per character plus 5 million.
        """
        return self.spans_of(self.kinds(text) + bytes([self.width - 1]))

    def kinds(self, text: str) -> bytes:
        """Return the class of every character, one byte each."""
        return text.translate(self.codes).encode("latin-1")

    def spans_of(self, codes: bytes) -> Iterator[tuple[int, int]]:
        """Iterate as `spans` does, given the class of each character and, last, the class of the text's edge."""
        view = memoryview(codes)
        trans, entries = self._scaled
        entry, several = entries[0], len(set(entries)) > 1
        offset, size, previous, wasted = 0, len(codes) - 1, -1, 0
        patience = 4 * size + 10_000
        failures: _FailureMemo | None = None
        while offset <= size:
            state, last = entries[codes[offset - 1]] if several else entry, -1
            if failures is not None:
                last = failures.search(codes, offset, state, trans)
            else:
                for at, code in enumerate(view[offset:], offset):
                    step = trans[state + code]
                    if step & 1:
                        last = at
                    state = step >> 1
                    if not state:
                        wasted += at - max(last, offset)
                        if wasted > patience:
                            failures = _FailureMemo(size, 20 * size + 5_000_000)
                        break
            if last < 0 or last == offset == previous:
                offset += 1
                continue
            yield offset, last
            offset = previous = last


class _FailureMemo:
    """Memoized failures: by offset, the states that lead to no further match."""

    def __init__(self, size: int, budget: int) -> None:
        self.size, self.budget = size, budget
        self.failed: dict[int, bytearray] = {}

    def search(self, codes: bytes, offset: int, state: int, trans: list[int]) -> int:
        """Return the end of the match that starts at `offset`, or -1."""
        last, since, trail = -1, offset, list[int]()
        failed = self.failed
        for at in range(offset, self.size + 1):
            if state in failed and failed[state][at]:
                break
            step = trans[state + codes[at]]
            if step & 1:
                last, since, trail = at, at + 1, []
            else:
                trail.append(state)
            state = step >> 1
            if not state:
                break
        self.budget -= at - offset + 1
        for at, state in enumerate(trail, since):
            if state not in failed:
                if (len(failed) + 1) * (self.size + 1) > MAX_MEMORY:
                    self.budget = -1
                    break
                failed[state] = bytearray(self.size + 1)
            failed[state][at] = 1
        if self.budget < 0:
            raise PatternError("the pattern reads too far ahead too often in this text, so cutting it takes too long")
        return last


@lru_cache(64)
def dfa_for(pattern: str, dialect: Dialect = "rust") -> DFA:
    """Return the DFA of `pattern`, compiled once, or read from a file if named. Raises the errors of `compile_dfa`."""
    spellings = {(p.regex, "rust"): p.name for p in PATTERNS.values()} | {
        (p.oniguruma, "oniguruma"): p.name for p in PATTERNS.values()
    }
    name = spellings.get((pattern, dialect))
    if name is None:
        from .dfa_construction import compile_dfa

        return compile_dfa(pattern, dialect)
    return _shipped(name)


def _shipped(name: str) -> DFA:
    """Read the DFA of a named pattern, written by `tools/make_dfa_tables.py`."""
    with open(os.path.join(os.path.dirname(__file__), "..", "data", f"{name}.dfa"), "rb") as file:
        width, steps = _numbers("i", file.read(8))
        trans, entries = _numbers("i", file.read(4 * steps)), _numbers("i", file.read(4 * width))
        return DFA(_numbers("H", file.read(2 * BLOCKS)), file.read(), width, trans, tuple(entries))


def _numbers(kind: str, data: bytes) -> array[int]:
    numbers = array(kind, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
