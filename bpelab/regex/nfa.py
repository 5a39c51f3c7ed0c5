r"""From the tree of a regular expression to a nondeterministic automaton whose choices are ordered.

Each position of the automaton is an operation: read a character of a set, look at the next or the last character,
choose (the first target is preferred), or match. What needs more than one character of memory at a place (a
look-ahead of two characters, a reference) has no place here and is refused by name. Cost: linear in the pattern, with
counted repetitions written out. Source: Cox 2010, "Regular Expression Matching: the Virtual Machine Approach".
"""

from dataclasses import dataclass, field
from typing import Literal

from .dfa import NotRegular
from .regex_nodes import (
    Atomic,
    Choice,
    Group,
    Look,
    Node,
    Place,
    Reference,
    Repeat,
    Sequence,
    Special,
    children,
    single,
)
from .regex_sets import NEWLINE, CharSet
from .unicode_tables import Ranges

MAX_OPERATIONS = 20_000
Operation = (
    tuple[Literal["read"], int, int]  # a character of one of the sets in a mask, then go on at
    | tuple[Literal["next", "last"], int, bool, int]  # the character after or before is in the mask, or (True) is not
    | tuple[Literal["choose"], tuple[int, ...]]
    | tuple[Literal["loop"], int, int, bool]  # body, way out, lazy
    | tuple[Literal["match"]]
)


def targets(operation: Operation) -> tuple[int, ...]:
    """Where an operation goes on."""
    if operation[0] == "read":
        return (operation[2],)
    if operation[0] == "choose":
        return operation[1]
    if operation[0] == "loop":
        return operation[1], operation[2]
    return () if operation[0] == "match" else (operation[3],)


@dataclass
class NFA:
    """Operations, and the sets that their masks speak of: bit i of a mask is `sets[i]`; bit 0 is the text's edge."""

    operations: list[Operation] = field(default_factory=list)
    sets: list[Ranges] = field(default_factory=list)
    start: int = 0
    behind: int = 0
    """The mask of what is ever looked for behind."""
    aheads: list[int] = field(default_factory=list)
    """Where the bodies of looks ahead over several characters begin; each look has a bit of its own, the last ones."""


EDGE = 1
"""The bit of what stands before and after the text."""


class _Builder:
    def __init__(self, far: bool) -> None:
        self.nfa, self.far = NFA([("match",)], [()]), far
        self.bits: dict[Ranges, int] = {}

    def emit(self, operation: Operation) -> int:
        self.nfa.operations.append(operation)
        if len(self.nfa.operations) > MAX_OPERATIONS:
            raise NotRegular(f"its automaton has more than {MAX_OPERATIONS:,} positions")
        return len(self.nfa.operations) - 1

    def bit(self, ranges: Ranges) -> int:
        if ranges not in self.bits:
            self.bits[ranges] = 1 << len(self.nfa.sets)
            self.nfa.sets.append(ranges)
        return self.bits[ranges]

    def look(self, behind: bool, mask: int, negative: bool, then: int) -> int:
        if behind:
            self.nfa.behind |= mask
            return self.emit(("last", mask, negative, then))
        return self.emit(("next", mask, negative, then))

    def build(self, node: Node, then: int) -> int:
        """The position where `node`, followed by what is at `then`, begins."""
        if isinstance(node, CharSet):
            return self.emit(("read", self.bit(node.ranges), then))
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                then = self.build(part, then)
            return then
        if isinstance(node, Choice):
            return self.emit(("choose", tuple([self.build(option, then) for option in node.options])))
        if isinstance(node, Group):
            return self.build(node.body, then)
        if isinstance(node, Repeat):
            return self.repeat(node, then)
        if isinstance(node, Atomic):
            return self.atomic(node.body, then)
        if isinstance(node, Place):
            return self.place(node, then)
        if isinstance(node, Look):
            mask = self.sight(node.body, node.behind)
            if mask is None and self.far and not node.behind:
                return self.emit(("next", ~self.ahead(node.body), node.negative, then))
            if mask is None:
                raise NotRegular(f"a look {'behind' if node.behind else 'ahead'} over more than one character")
            return self.look(node.behind, mask, node.negative, then)
        if isinstance(node, Reference):
            raise NotRegular(f"a reference to group {node.target}")
        assert isinstance(node, Special)
        raise NotRegular(node.text)

    def ahead(self, body: Node) -> int:
        """The number of a look ahead over several characters; none stands in another."""
        self.far = False
        self.nfa.aheads.append(self.build(body, 0))
        self.far = True
        return len(self.nfa.aheads) - 1

    def sight(self, body: Node, behind: bool) -> int | None:
        """The mask of what a look looks for, where that is one character or the end of the text."""
        one = single(body)
        if one is not None:
            return self.bit(one.ranges)
        if isinstance(body, Place) and body.where == ("text_start" if behind else "text_end"):
            return EDGE
        if isinstance(body, Place) and body.where == "line_end" and not behind:
            return EDGE | self.bit(NEWLINE)
        if isinstance(body, Group) or (isinstance(body, Repeat) and body.low == 1 and body.mode != "possessive"):
            return self.sight(body.body, behind)  # of one or more, the first decides
        if isinstance(body, Choice):
            mask = 0
            for option in body.options:
                part = self.sight(option, behind)
                if part is None:
                    return None
                mask |= part
            return mask
        return None

    def place(self, node: Place, then: int) -> int:
        newline = self.bit(NEWLINE) if node.where in {"line_start", "line_end"} else 0
        if node.where == "text_start":
            return self.look(True, EDGE, False, then)
        if node.where == "text_end":
            return self.look(False, EDGE, False, then)
        if node.where == "line_end":
            return self.look(False, EDGE | newline, False, then)
        if node.where == "line_start":
            if node.strict:
                inner = self.look(True, newline, False, self.look(False, EDGE, True, then))
                return self.emit(("choose", (self.look(True, EDGE, False, then), inner)))
            return self.look(True, EDGE | newline, False, then)
        if node.word is None:
            raise NotRegular("\\Z, which looks two characters ahead,")
        word, inside = self.bit(node.word.ranges), node.where == "no_word"
        ways = [self.look(True, word, after, self.look(False, word, after == inside, then)) for after in (False, True)]
        return self.emit(("choose", tuple(ways)))

    def atomic(self, body: Node, then: int) -> int:
        """An atomic group, where it means the same as a plain one or as a possessive repetition of one character."""
        while isinstance(body, Group):
            body = body.body
        if isinstance(body, CharSet) or self.nfa.operations[then] == ("match",):
            return self.build(body, then)  # the first way is the match anyway
        if isinstance(body, Repeat) and body.mode == "greedy" and single(body.body):
            return self.repeat(Repeat(body.body, body.low, body.high, "possessive"), then)
        raise NotRegular("an atomic group")

    def repeat(self, node: Repeat, then: int) -> int:
        body, out = node.body, then
        if node.high != 1 and _nullable(body) and (node.low > 1 or not _empty_last(body)):
            raise NotRegular("a repetition of what would rather match nothing than something")
        if node.mode == "possessive" and self.nfa.operations[then] != ("match",):
            one = single(body)
            if one is None:
                raise NotRegular("a possessive repetition of more than one character")
            out = self.look(False, self.bit(one.ranges), True, then)  # C++ is C+(?!C)
        lazy = node.mode == "lazy"
        if node.high is None:
            loop = self.emit(("choose", ()))
            inside = self.build(body, loop)
            self.nfa.operations[loop] = ("loop", inside, out, lazy)
            entry = inside if node.low else loop
        else:
            entry = then  # once the maximum is reached, what follows doesn't matter
            for _ in range(node.high - node.low):
                once = self.build(body, entry)
                entry = self.emit(("choose", (out, once) if lazy else (once, out)))
        for _ in range(node.low - (node.high is None)):
            entry = self.build(body, entry)
        return entry


def _nullable(node: Node) -> bool:
    """Whether `node` can match without consuming a character."""
    if isinstance(node, Repeat):
        return node.low == 0 or _nullable(node.body)
    if isinstance(node, Choice):
        return any(map(_nullable, node.options))
    if isinstance(node, Look | Place):
        return True
    return not isinstance(node, CharSet) and all(map(_nullable, children(node)))


def _empty_last(node: Node) -> bool:
    """Whether a `node` that can match nothing does so only when all else fails.

    An engine leaves a repetition whose body has matched nothing. Where that is the last thing the body would do, the
    repetition never has to know, and one that asks for a single time at least neither.
    """
    if isinstance(node, Repeat):
        return node.mode != "lazy" and (not _nullable(node.body) or _empty_last(node.body))
    if isinstance(node, Choice):
        return not any(map(_nullable, node.options[:-1])) and _empty_last(node.options[-1])
    return all(map(_empty_last, children(node)))


def build_nfa(node: Node, far: bool = False) -> NFA:
    """The automaton of a pattern. Raises NotRegular for what it can't express.

    With `far`, a look ahead over several characters asks for the bit of its own that `aheads` speaks of.
    """
    builder = _Builder(far)
    nfa = builder.nfa
    nfa.start = builder.build(node, 0)
    first = len(nfa.sets)
    nfa.sets += [()] * len(nfa.aheads)  # no character has these bits: a place has them
    for number, operation in enumerate(nfa.operations):
        if operation[0] == "next" and operation[1] < 0:
            nfa.operations[number] = ("next", 1 << first + ~operation[1], *operation[2:])
    return nfa
