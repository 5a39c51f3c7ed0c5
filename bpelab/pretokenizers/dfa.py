r"""Search with a table: one lookup a character, whatever the pattern and the text.

A table (deterministic finite automaton) has a row for each state and a column for each class of characters. Where a
pattern reads far ahead in vain, `a*b|a` on "aaaa...", the scan notes which states failed where and doesn't go there
again. Cost: linear in the text. Chapter: Regex pre-tokenization.
Source: Reps 1998, "Maximal-munch tokenization in linear time".
"""

from __future__ import annotations

import os.path
import sys
from array import array
from collections import namedtuple
from functools import lru_cache

from ..cached import cached_property
from ..errors import PatternError
from .patterns import PATTERNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .regex_sets import Dialect

BLOCKS = 0x1100
"""Blocks of 256 code points, all there are."""

MAX_MEMORY = 64_000_000
"""Bytes of notes about failures."""


class NotRegular(PatternError):
    """The pattern has a construct that no automaton of bounded size and one character's sight can run."""


class _Codes(dict[int, int]):
    """Code point -> class, filled as characters turn up, for `str.translate`."""

    def __init__(self, stage1: array[int], stage2: bytes) -> None:
        self.stage1, self.stage2 = stage1, stage2

    def __missing__(self, code_point: int) -> int:
        found = self.stage2[self.stage1[code_point >> 8] << 8 | code_point & 255]
        if len(self) < 100_000:
            self[code_point] = found
        return found


class DFA(namedtuple("DFA", "stage1 stage2 width trans entries")):
    """Classes of characters and a table of transitions.

    The class of the character c is `stage2[stage1[c >> 8] * 256 + (c & 255)]`; the last class, `width` - 1, is the
    edge of the text. `trans[state * width + class]` is twice the next state, plus 1 if a match ends before this
    character. State 0 is the end of a search; `entries[class]` is the state to begin in after a character of that
    class, 1 everywhere where the pattern looks at no character behind.
    """

    stage1: array[int]
    stage2: bytes
    width: int
    trans: array[int]
    entries: tuple[int, ...]

    @cached_property
    def _codes(self) -> _Codes:
        return _Codes(self.stage1, self.stage2)

    @cached_property
    def _scaled(self) -> tuple[list[int], list[int]]:
        """The table with the next state's row in place of its number, and the entries likewise."""
        return [(t >> 1) * self.width << 1 | t & 1 for t in self.trans], [e * self.width for e in self.entries]

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The (start, end) of every match, in order; an empty one right after another match isn't counted.

        Raises PatternError where the search takes more steps than 20 for a character and 5 million.
        """
        return self.spans_of(self.kinds(text) + bytes([self.width - 1]))

    def kinds(self, text: str) -> bytes:
        """The class of every character."""
        return text.translate(self._codes).encode("latin-1")

    def spans_of(self, codes: bytes) -> Iterator[tuple[int, int]]:
        """As `spans`, for the classes of a text's characters and of its end."""
        view = memoryview(codes)
        trans, entries = self._scaled
        entry, several = entries[0], len(set(entries)) > 1
        place, size, previous, wasted = 0, len(codes) - 1, -1, 0
        patience = 4 * size + 10_000
        failures: _Failures | None = None
        while place <= size:
            state, last = entries[codes[place - 1]] if several else entry, -1
            if failures is not None:
                last = failures.search(codes, place, state, trans)
            else:
                for at, code in enumerate(view[place:], place):
                    step = trans[state + code]
                    if step & 1:
                        last = at
                    state = step >> 1
                    if not state:
                        wasted += at - max(last, place)
                        if wasted > patience:
                            failures = _Failures(size, 20 * size + 5_000_000)
                        break
            if last < 0 or last == place == previous:
                place += 1
                continue
            yield place, last
            place = previous = last


class _Failures:
    """Which states led to no further match at which places."""

    def __init__(self, size: int, budget: int) -> None:
        self.size, self.budget = size, budget
        self.failed: dict[int, bytearray] = {}

    def search(self, codes: bytes, place: int, state: int, trans: list[int]) -> int:
        """The end of the match that begins at `place`, or -1."""
        last, since, trail = -1, place, list[int]()
        failed = self.failed
        for at in range(place, self.size + 1):
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
        self.budget -= at - place + 1
        for at, state in enumerate(trail, since):
            if state not in failed:
                if (len(failed) + 1) * (self.size + 1) > MAX_MEMORY:
                    self.budget = -1
                    break
                failed[state] = bytearray(self.size + 1)
            failed[state][at] = 1
        if self.budget < 0:
            raise PatternError("the pattern reads too far ahead again and again in this text; it can't be cut in time")
        return last


@lru_cache(64)
def dfa_for(pattern: str, dialect: Dialect = "rust") -> DFA:
    """The table of `pattern`: compiled once, or, for a named pattern, read. Raises as `compile_dfa`."""
    spellings = {(p.regex, "rust"): p.name for p in PATTERNS.values()} | {
        (p.oniguruma, "oniguruma"): p.name for p in PATTERNS.values()
    }
    name = spellings.get((pattern, dialect))
    if name is None:
        from .regex_dfa import compile_dfa

        return compile_dfa(pattern, dialect)
    return _shipped(name)


def _shipped(name: str) -> DFA:
    """The table of a named pattern, which `data/make_dfa_tables.py` wrote."""
    with open(os.path.join(os.path.dirname(__file__), "..", "data", f"{name}.dfa"), "rb") as file:
        width, steps = _numbers("i", file.read(8))
        trans, entries = _numbers("i", file.read(4 * steps)), _numbers("i", file.read(4 * width))
        return DFA(_numbers("H", file.read(2 * BLOCKS)), file.read(), width, trans, tuple(entries))


def _numbers(kind: str, data: bytes) -> array[int]:
    numbers = array(kind, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
