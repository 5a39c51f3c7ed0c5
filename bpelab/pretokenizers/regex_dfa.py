r"""A regular expression as a table: one lookup a character, whatever the pattern and the text.

A state is the list of positions that a backtracking engine would try, in its order of preference, before the next
character is known; a match cuts off what comes after it in the list. So the table finds what the engine finds, but
never tries a text twice. Where a pattern reads far ahead in vain, `a*b|a` on "aaaa...", the scan notes which states
failed where and doesn't go there again (Reps 1998). Cost: compiling, some 50 ms for a named pattern, without end for
none (see the limits); scanning, linear. Chapter: Regex pre-tokenization.
Sources: Aho, Sethi and Ullman 1986, section 3.9; Reps 1998, "Maximal-munch tokenization in linear time".
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from ..cached import cached_property
from ..data import FOLDER
from ..errors import PatternError
from .patterns import PATTERNS
from .regex_nfa import EDGE, NFA, NotRegular, build_nfa
from .regex_sets import Dialect
from .regex_syntax import parse

MAX_CLASSES, MAX_STATES, MAX_WORK = 250, 4_000, 600_000
"""Kinds of characters; states; positions looked at while compiling (about half a second)."""
MAX_MEMORY = 64_000_000
"""Bytes of notes about failures."""


class _Codes(dict[int, int]):
    """Code point -> class, filled as characters turn up, for `str.translate`."""

    def __init__(self, starts: tuple[int, ...], classes: tuple[int, ...]) -> None:
        self.starts, self.classes = starts, classes

    def __missing__(self, code_point: int) -> int:
        found = self.classes[bisect_right(self.starts, code_point) - 1]
        if len(self) < 100_000:
            self[code_point] = found
        return found


@dataclass(frozen=True)
class DFA:
    """Classes of characters and a table of transitions.

    Characters from `starts[i]` to before `starts[i + 1]` are of class `classes[i]`; the last class, `width` - 1, is the
    edge of the text. `trans[state * width + class]` is twice the next state, plus 1 if a match ends before this
    character. State 0 is the end of a search; `entries[class]` is the state to begin in after a character of that
    class, 1 everywhere where the pattern looks at no character behind.
    """

    starts: tuple[int, ...]
    classes: tuple[int, ...]
    width: int
    trans: array[int]
    entries: tuple[int, ...]

    @cached_property
    def _codes(self) -> _Codes:
        return _Codes(self.starts, self.classes)

    @cached_property
    def _scaled(self) -> tuple[list[int], list[int]]:
        """The table with the next state's row in place of its number, and the entries likewise."""
        return [(t >> 1) * self.width << 1 | t & 1 for t in self.trans], [e * self.width for e in self.entries]

    @cached_property
    def stages(self) -> tuple[array[int], bytes]:
        """Two-stage lookup: the class of c is stage2[stage1[c >> 8] * 256 + (c & 255)]."""
        ends = [*self.starts[1:], 0x110000]
        flat = b"".join(bytes([kind]) * (end - start) for start, end, kind in zip(self.starts, ends, self.classes))
        blocks: dict[bytes, int] = {}
        stage1 = array("H", [blocks.setdefault(flat[i : i + 256], len(blocks)) for i in range(0, len(flat), 256)])
        return stage1, b"".join(blocks)

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


def alphabet(nfa: NFA) -> tuple[tuple[int, ...], tuple[int, ...], list[int]]:
    """(starts, classes, the mask of every class): characters that no set tells apart are one class."""
    flips: dict[int, int] = {0: 0}
    for bit, ranges in enumerate(nfa.sets):
        for first, last in ranges:
            flips[first] = flips.get(first, 0) ^ 1 << bit
            flips[last + 1] = flips.get(last + 1, 0) ^ 1 << bit
    numbers: dict[int, int] = {}
    starts, classes, mask = list[int](), list[int](), 0
    for start in sorted(flips):
        mask ^= flips[start]
        if start > 0x10FFFF or (starts and numbers.get(mask) == classes[-1]):
            continue
        starts.append(start)
        classes.append(numbers.setdefault(mask, len(numbers)))
    if len(numbers) > MAX_CLASSES:
        raise NotRegular(f"it tells more than {MAX_CLASSES} kinds of characters apart")
    return tuple(starts), tuple(classes), [*numbers, EDGE]


State = tuple[int, tuple[int, ...]]
"""(what is behind, positions in order of preference)."""


class _Subsets:
    """The ordered subset construction."""

    def __init__(self, nfa: NFA, masks: list[int]) -> None:
        self.operations, self.behind, self.masks, self.work = nfa.operations, nfa.behind, masks, 0

    def reads(self, state: State, ahead: int | None) -> tuple[list[tuple[int, int]], bool] | None:
        """((mask, target) of the reads that can come next, in order, whether a match ends them).

        None where that depends on the next character and `ahead`, its mask, isn't given.
        """
        behind, positions = state
        seen: set[int] = set()
        out: list[tuple[int, int]] = []
        stack = list(reversed(positions))
        while stack:
            at = stack.pop()
            operation = self.operations[at]
            if at in seen:
                if operation[0] == "loop":  # the body was empty: the loop is left
                    stack.append(operation[2])
                continue
            self.work += 1
            seen.add(at)
            if operation[0] == "read":
                out.append((operation[1], operation[2]))
            elif operation[0] == "choose":
                stack.extend(reversed(operation[1]))
            elif operation[0] == "loop":
                body, way_out, lazy = operation[1:]
                stack.extend((body, way_out) if lazy else (way_out, body))
            elif operation[0] == "match":
                return out, True
            elif operation[0] == "last":
                if bool(behind & operation[1]) != operation[2]:
                    stack.append(operation[3])
            elif ahead is None:
                return None
            elif bool(ahead & operation[1]) != operation[2]:
                stack.append(operation[3])
        if self.work > MAX_WORK:
            raise NotRegular("its table takes too long to build")
        return out, False

    def row(self, state: State) -> list[tuple[State, bool]]:
        """For every class, the state after a character of it, and whether a match ends before it."""
        known = self.reads(state, None)
        row = []
        for mask in self.masks:
            reads, matched = known or self.reads(state, mask) or ([], False)
            self.work += 1 + len(reads) // 4
            targets = tuple(dict.fromkeys([target for wanted, target in reads if wanted & mask]))
            row.append(((mask & self.behind if targets else 0, targets), matched))
        return row


def compile_dfa(pattern: str, dialect: Dialect = "rust") -> DFA:
    r"""The table of `pattern`.

    >>> list(compile_dfa(r"\s+(?!\S)|\S+").spans("ab   c"))
    [(0, 2), (2, 4), (5, 6)]

    Raises NotRegular for a pattern that is no business of a table, or whose table would be too large, and PatternError
    for one that is malformed. Time and memory are bounded.
    """
    try:
        nfa = build_nfa(parse(pattern, dialect))
        return determinized(nfa, *alphabet(nfa))
    except NotRegular as reason:
        shown = repr(pattern) if len(pattern) <= 200 else repr(pattern[:80]) + "…"
        raise NotRegular(f"{shown} can't be run by a table: {reason}") from None


def determinized(nfa: NFA, starts: tuple[int, ...], classes: tuple[int, ...], masks: list[int]) -> DFA:
    """The table of an automaton over the classes with these masks. Raises NotRegular where it would be too large."""
    subsets = _Subsets(nfa, masks)
    begin: list[State] = [(mask & nfa.behind, (nfa.start,)) for mask in masks]
    numbers: dict[State, int] = {(0, ()): 0}
    for state in begin:
        numbers.setdefault(state, len(numbers))
    order, table = list(numbers), []
    for state in order:
        row = subsets.row(state)
        for target, _ in row:
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
        if len(order) > MAX_STATES or subsets.work > MAX_WORK:
            raise NotRegular(f"its table has more than {MAX_STATES:,} states or takes too long to build")
        table.append([numbers[target] * 2 | matched for target, matched in row])
    return _smallest(starts, classes, table, [numbers[state] for state in begin])


def _smallest(starts: tuple[int, ...], classes: tuple[int, ...], table: list[list[int]], entries: list[int]) -> DFA:
    """States that no text tells apart become one (Moore 1956). A large table stays as it is."""
    part = [0] * len(table)
    while len(table) <= 300:
        keys: dict[tuple[int, ...], int] = {}
        new = [
            keys.setdefault((part[i], *(part[t >> 1] * 2 | t & 1 for t in row)), len(keys))
            for i, row in enumerate(table)
        ]
        if max(new) == max(part):
            break
        part = new
    else:
        part = list(range(len(table)))
    numbers = {part[0]: 0}
    for old in [*entries, *range(len(table))]:
        numbers.setdefault(part[old], len(numbers))
    rows: dict[int, list[int]] = {}
    for i, row in enumerate(table):
        rows.setdefault(numbers[part[i]], [numbers[part[t >> 1]] * 2 | t & 1 for t in row])
    trans = array("i", [step for number in range(len(rows)) for step in rows[number]])
    return DFA(starts, classes, len(table[0]), trans, tuple(numbers[part[entry]] for entry in entries))


@lru_cache(64)
def dfa_for(pattern: str, dialect: Dialect = "rust") -> DFA:
    """The table of `pattern`: compiled once, or, for a named pattern, read. Raises as `compile_dfa`."""
    spellings = {(p.regex, "rust"): p.name for p in PATTERNS.values()} | {
        (p.oniguruma, "oniguruma"): p.name for p in PATTERNS.values()
    }
    name = spellings.get((pattern, dialect))
    if name is None:
        return compile_dfa(pattern, dialect)
    table = shipped_tables()[name]
    starts = tuple(accumulate(table["steps"], initial=0))
    return DFA(starts, tuple(table["classes"]), table["width"], array("i", table["trans"]), tuple(table["entries"]))


@lru_cache(1)
def shipped_tables() -> dict[str, Any]:
    """The tables of the named patterns, which `data/make_dfa_tables.py` writes."""
    content: dict[str, Any] = json.loads((FOLDER / "dfa_tables.json").read_text("utf-8"))
    return content
