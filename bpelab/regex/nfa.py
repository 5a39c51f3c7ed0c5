r"""Compile the tree of a regular expression into an NFA whose choices are ordered.

Each position of the automaton is an operation: read a character of a set, look at the next or the last character,
choose (the first target is preferred), or match. A construct that needs more than one character of context (a
lookahead of two characters, a backreference) is refused, and the error names it. Cost: linear in the pattern with
counted repetitions expanded. Source: Cox 2010, "Regular Expression Matching: the Virtual Machine Approach".
"""

from dataclasses import dataclass, field
from typing import Literal

from ..unicode.tables import Ranges
from .ast import (
    Alternation,
    Anchor,
    Atomic,
    Backreference,
    EngineOnly,
    Group,
    Lookaround,
    Node,
    Repeat,
    Sequence,
    children,
    single,
)
from .charsets import NEWLINE, CharSet
from .dfa import NotRegular

MAX_OPERATIONS = 20_000
Operation = (
    tuple[Literal["read"], int, int]  # a character of one of the sets in a mask, then go on at
    | tuple[Literal["next", "last"], int, bool, int]  # the character after or before is in the mask, or (True) is not
    | tuple[Literal["choose"], tuple[int, ...]]
    | tuple[Literal["loop"], int, int, bool]  # body, exit, lazy
    | tuple[Literal["match"]]
)


def targets(operation: Operation) -> tuple[int, ...]:
    """Return the positions that may follow an operation."""
    if operation[0] == "read":
        return (operation[2],)
    if operation[0] == "choose":
        return operation[1]
    if operation[0] == "loop":
        return operation[1], operation[2]
    return () if operation[0] == "match" else (operation[3],)


@dataclass
class NFA:
    """The operations, and the sets that their masks refer to: bit i is `sets[i]`; bit 0 is the edge of the text."""

    operations: list[Operation] = field(default_factory=list)
    sets: list[Ranges] = field(default_factory=list)
    start: int = 0
    behind: int = 0
    """The mask of everything that lookbehinds test."""
    aheads: list[int] = field(default_factory=list)
    """The start of each lookahead body over several characters; each has one of the last bits of a mask."""


EDGE = 1
"""The bit of the edge of the text, before its first and after its last character."""


class _Builder:
    def __init__(self, far: bool, ordered: bool) -> None:
        self.nfa, self.far, self.ordered = NFA([("match",)], [()]), far, ordered
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
        """Build `node` so that it continues at the position `then`, and return the position where it starts."""
        if isinstance(node, CharSet):
            return self.emit(("read", self.bit(node.ranges), then))
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                then = self.build(part, then)
            return then
        if isinstance(node, Alternation):
            return self.emit(("choose", tuple([self.build(option, then) for option in node.options])))
        if isinstance(node, Group):
            return self.build(node.body, then)
        if isinstance(node, Repeat):
            return self.repeat(node, then)
        if isinstance(node, Atomic):
            return self.atomic(node.body, then)
        if isinstance(node, Anchor):
            return self.anchor(node, then)
        if isinstance(node, Lookaround):
            mask = self.lookaround_mask(node.body, node.behind)
            if mask is None and self.far and not node.behind:
                return self.emit(("next", ~self.ahead(node.body), node.negative, then))
            if mask is None:
                raise NotRegular(f"a look {'behind' if node.behind else 'ahead'} over more than one character")
            return self.look(node.behind, mask, node.negative, then)
        if isinstance(node, Backreference):
            raise NotRegular(f"a reference to group {node.target}")
        assert isinstance(node, EngineOnly)
        raise NotRegular(node.text)

    def ahead(self, body: Node) -> int:
        """Build a lookahead over several characters and return its number; lookaheads don't nest."""
        self.far = False
        self.nfa.aheads.append(self.build(body, 0))
        self.far = True
        return len(self.nfa.aheads) - 1

    def lookaround_mask(self, body: Node, behind: bool) -> int | None:
        """Return the mask that a lookaround tests if that is one character or the edge of the text, else None."""
        one = single(body)
        if one is not None:
            return self.bit(one.ranges)
        if isinstance(body, Anchor) and body.where == ("text_start" if behind else "text_end"):
            return EDGE
        if isinstance(body, Anchor) and body.where == "line_end" and not behind:
            return EDGE | self.bit(NEWLINE)
        if isinstance(body, Group) or (isinstance(body, Repeat) and body.low == 1 and body.mode != "possessive"):
            return self.lookaround_mask(body.body, behind)  # the first repetition decides
        if isinstance(body, Alternation):
            mask = 0
            for option in body.options:
                part = self.lookaround_mask(option, behind)
                if part is None:
                    return None
                mask |= part
            return mask
        return None

    def anchor(self, node: Anchor, then: int) -> int:
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
        """Build an atomic group that is equivalent to a plain one or to a possessive repetition of one character."""
        while isinstance(body, Group):
            body = body.body
        if isinstance(body, CharSet) or self.nfa.operations[then] == ("match",):
            return self.build(body, then)  # the first path is the match anyway
        if isinstance(body, Repeat) and body.mode == "greedy" and single(body.body):
            return self.repeat(Repeat(body.body, body.low, body.high, "possessive"), then)
        raise NotRegular("an atomic group")

    def repeat(self, node: Repeat, then: int) -> int:
        body, out = node.body, then
        if self.ordered and node.high != 1 and _nullable(body) and (node.low > 1 or not _empty_last(body)):
            raise NotRegular("a repetition of something that prefers to match nothing")
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
    """Return whether `node` can match the empty string."""
    if isinstance(node, Repeat):
        return node.low == 0 or _nullable(node.body)
    if isinstance(node, Alternation):
        return any(map(_nullable, node.options))
    if isinstance(node, Lookaround | Anchor):
        return True
    return not isinstance(node, CharSet) and all(map(_nullable, children(node)))


def _empty_last(node: Node) -> bool:
    """Return whether a `node` that can match the empty string does so only as its last choice.

    An engine leaves a repetition whose body matched the empty string. If that is the body's last choice, the repetition
    needn't check for it. Neither does a repetition with a minimum of one.
    """
    if isinstance(node, Repeat):
        return node.mode != "lazy" and (not _nullable(node.body) or _empty_last(node.body))
    if isinstance(node, Alternation):
        return not any(map(_nullable, node.options[:-1])) and _empty_last(node.options[-1])
    return all(map(_empty_last, children(node)))


def build_nfa(node: Node, far: bool = False, ordered: bool = True) -> NFA:
    """Build the NFA of a pattern. Raises NotRegular for a construct that an NFA can't express.

    With `far`, a lookahead over several characters tests its own bit, which `aheads` describes. Without `ordered`, the
    NFA is only asked whether a whole text matches.
    """
    builder = _Builder(far, ordered)
    nfa = builder.nfa
    nfa.start = builder.build(node, 0)
    first = len(nfa.sets)
    nfa.sets += [()] * len(nfa.aheads)  # these bits belong to positions in the text, not to characters
    for index, operation in enumerate(nfa.operations):
        if operation[0] == "next" and operation[1] < 0:
            nfa.operations[index] = ("next", 1 << first + ~operation[1], *operation[2:])
    return nfa
