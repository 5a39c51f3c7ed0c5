r"""Compile a regular expression into a DFA: the ordered subset construction.

A state is the list of positions that a backtracking engine would try, in its order of preference, before the next
character is known; a match cuts off the rest of the list. So the DFA finds the same matches as the engine, but without
backtracking (`dfa.py`). Cost: about 50 ms for a named pattern, bounded for all (see the limits).
Chapter: Regex pre-tokenization. Source: Aho, Sethi and Ullman 1986, section 3.9.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from .charsets import Dialect
from .dfa import DFA, NotRegular
from .nfa import EDGE, NFA, build_nfa
from .parser import parse

MAX_CLASSES, MAX_STATES, MAX_WORK = 250, 4_000, 600_000
"""Limits: character classes; states; positions visited while compiling (about half a second)."""


def alphabet(nfa: NFA) -> tuple[tuple[int, ...], tuple[int, ...], list[int]]:
    """Return (starts, classes, masks): characters in the same sets share a class, and each class has a mask."""
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
        raise NotRegular(f"it distinguishes more than {MAX_CLASSES} kinds of characters")
    return tuple(starts), tuple(classes), [*numbers, EDGE]


State = tuple[int, tuple[int, ...]]
"""(mask of the last character, positions in order of preference)."""


class _SubsetConstruction:
    """The ordered subset construction."""

    def __init__(self, nfa: NFA, masks: list[int]) -> None:
        self.operations, self.behind, self.masks, self.work = nfa.operations, nfa.behind, masks, 0

    def reads(self, state: State, ahead: int | None) -> tuple[list[tuple[int, int]], bool] | None:
        """Return (the (mask, target) of each possible read, in order of preference; whether a match ends the list).

        Return None if that depends on the next character and its mask, `ahead`, isn't given.
        """
        after, positions = state
        seen: set[int] = set()
        out: list[tuple[int, int]] = []
        stack = list(reversed(positions))
        while stack:
            at = stack.pop()
            operation = self.operations[at]
            if at in seen:
                if operation[0] == "loop":  # the body matched nothing: leave the loop
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
                if bool(after & operation[1]) != operation[2]:
                    stack.append(operation[3])
            elif ahead is None:
                return None
            elif bool(ahead & operation[1]) != operation[2]:
                stack.append(operation[3])
        if self.work > MAX_WORK:
            raise NotRegular("its table takes too long to build")
        return out, False

    def row(self, state: State) -> list[tuple[State, bool]]:
        """Return, for every class, the state after a character of that class and whether a match ends before it."""
        known = self.reads(state, None)
        row = []
        for mask in self.masks:
            reads, matched = known or self.reads(state, mask) or ([], False)
            self.work += 1 + len(reads) // 4
            targets = tuple(dict.fromkeys([target for wanted, target in reads if wanted & mask]))
            row.append(((mask & self.behind if targets else 0, targets), matched))
        return row


def compile_dfa(pattern: str, dialect: Dialect = "rust") -> DFA:
    r"""Compile `pattern` into a DFA.

    >>> list(compile_dfa(r"\s+(?!\S)|\S+").spans("ab   c"))
    [(0, 2), (2, 4), (5, 6)]

    Raises NotRegular if no DFA can run the pattern or its table would be too large, and PatternError if the pattern is
    malformed. Time and memory are bounded.
    """
    try:
        nfa = build_nfa(parse(pattern, dialect))
        starts, classes, masks = alphabet(nfa)
        return determinize(nfa, two_stages(starts, classes), masks)
    except NotRegular as reason:
        shown = repr(pattern) if len(pattern) <= 200 else repr(pattern[:80]) + "…"
        raise NotRegular(f"{shown} can't be run by a table: {reason}") from None


def two_stages(starts: Sequence[int], classes: Sequence[int]) -> tuple[array[int], bytes]:
    """Build the two-stage table of character classes: characters from starts[i] to starts[i + 1] have classes[i]."""
    ends = [*starts[1:], 0x110000]
    blocks: dict[bytes, int] = {}
    stage1, mixed = array("H"), b""
    for start, end, kind in zip(starts, ends, classes):
        rest = min(-start & 255, end - start)  # how many characters fill up the block in which the range starts
        mixed += bytes([kind]) * rest
        if start + rest < end or not end & 255:
            if mixed:
                stage1.append(blocks.setdefault(mixed, len(blocks)))
            whole, more = divmod(end - start - rest, 256)
            if whole:
                stage1 += array("H", [blocks.setdefault(bytes([kind]) * 256, len(blocks))]) * whole
            mixed = bytes([kind]) * more
    return stage1, b"".join(blocks)


def determinize(nfa: NFA, stages: tuple[array[int], bytes], masks: list[int]) -> DFA:
    """Build the DFA of an NFA over the classes with these masks. Raises NotRegular if it would be too large."""
    subsets = _SubsetConstruction(nfa, masks)
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
    return _minimize(stages, table, [numbers[state] for state in begin])


def _minimize(stages: tuple[array[int], bytes], table: list[list[int]], entries: list[int]) -> DFA:
    """Minimize the DFA: merge equivalent states (Moore 1956). A table of over 300 states isn't minimized."""
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
    return DFA(*stages, len(table[0]), trans, tuple(numbers[part[entry]] for entry in entries))
