r"""Parse a regular expression into a syntax tree, in the dialect of tiktoken's engine or of Hugging Face's.

"rust" is fancy-regex: `$` is the end of the text, `{1,3}+` is possessive, `(?s)` lets `.` match a line end.
"oniguruma" is Oniguruma with Ruby's syntax: `^` and `$` match at lines, `{1,3}+` repeats a repetition, `(?m)` lets `.`
match a line end, and `(?i)` in the middle also applies to the alternatives after it. The parser keeps open groups on an
explicit stack, so that no pattern exceeds Python's recursion limit. Case folding is one to one; Oniguruma's `(?i:ss)`
also matches ß, this one doesn't. Cost: linear in the pattern. Chapter: Regex pre-tokenization.
"""

from dataclasses import replace
from functools import lru_cache

from .ast import Anchor, Atomic, EngineOnly, Group, Lookaround, Node, Repeat, choice, sequence
from .atoms import AtomReader, Flags
from .char_classes import MAX_DEPTH, Source
from .charsets import Dialect

MAX_PATTERN = 100_000
"""The most characters that a pattern may have."""
MAX_COUNT = 100_000
"""The largest number in a counted repetition (Oniguruma's own limit)."""


class _Frame:
    """An open group: its kind and the parts read so far."""

    def __init__(self, kind: str, flags: Flags, at: int, number: int = 0, name: str | None = None) -> None:
        self.kind, self.outer, self.at, self.number, self.name = kind, flags, at, number, name
        self.options: list[Node] = []
        self.parts: list[Node] = []
        self.depths: list[int] = []  # the nesting depth of each part; negative for a repetition

    def closed(self) -> Node:
        body = choice([*self.options, sequence(self.parts)])
        if self.kind == "capture":
            return Group(body, self.number, self.name)
        if self.kind == "atomic":
            return Atomic(body)
        if self.kind.startswith("look"):
            return Lookaround(body, "behind" in self.kind, "not" in self.kind)
        return body


OPENINGS = {
    "?:": "plain", "?>": "atomic", "?=": "look ahead", "?!": "look ahead not", "?<=": "look behind",
    "?<!": "look behind not",
}  # fmt: skip
REFUSED_GROUPS = {
    "?(": "a condition", "?~": "an absent operator", "?{": "a callout", "*": "a callout", "?&": "a call",
    "?P>": "a call",
}  # fmt: skip


class _Parser(AtomReader):
    def __init__(self, pattern: str, dialect: Dialect) -> None:
        super().__init__(pattern, dialect)
        self.stack = [_Frame("whole", self.flags, 0)]
        self.groups = 0
        self.names: set[str] = set()

    def parse(self) -> Node:
        source = self.source
        while source.at < len(source.pattern):
            char = source.peek()
            if char == "(":
                self.open()
            elif char == ")":
                self.close()
            elif source.eat("|"):
                self.next_option()
            elif self.flags.extended and source.match(r"\s+|#[^\n]*"):
                continue
            elif not self.quantified():
                self.add(self.atom())
        while self.stack[-1].kind == "rest":
            self.fold_rest()
        if len(self.stack) > 1:
            raise source.error("a group is not closed", self.stack[-1].at)
        self.check_references()
        return self.stack[0].closed()

    def check_references(self) -> None:
        """Check that every reference has a group; Oniguruma allows numbers only if no group has a name."""
        for target, at in self.references:
            known = target in self.names if isinstance(target, str) else 0 < target <= self.groups
            if not known or (self.names and isinstance(target, int) and self.dialect == "oniguruma"):
                raise self.source.error(f"there is no group {target} to refer to", at)

    def add(self, node: Node, depth: int = 0) -> None:
        self.stack[-1].parts.append(node)
        self.stack[-1].depths.append(depth)

    def next_option(self) -> None:
        frame = self.stack[-1]
        frame.options.append(sequence(frame.parts))
        frame.parts = []

    def open(self) -> None:
        source, at = self.source, self.source.at
        source.at += 1
        if len(self.stack) > MAX_DEPTH:
            raise source.error(f"groups are nested more than {MAX_DEPTH} deep", at)
        if source.match(r"\?#(?:[^\\)]|\\.)*\)"):
            return
        for opening, kind in sorted(OPENINGS.items(), key=lambda item: -len(item[0])):
            if source.eat(opening):
                self.stack.append(_Frame(kind, self.flags, at))
                return
        optional = "P?" if self.dialect == "rust" else ""
        if found := source.match(rf"\?{optional}<([^\W\d]\w*)>|\?'([^\W\d]\w*)'"):
            self.groups += 1
            self.names.add(found[1] or found[2])
            self.stack.append(_Frame("capture", self.flags, at, self.groups, found[1] or found[2]))
            return
        if self.dialect == "rust" and (found := source.match(r"\?P=([^\W\d]\w*)\)")):
            self.add(self.refer(found[1], at))
            return
        if found := source.match(r"\?([a-zA-Z]*)(-[a-zA-Z]*)?([:)])"):
            self.set_flags(found[1], found[2] or "", found[3] == ":", at)
            return
        for opening, what in REFUSED_GROUPS.items():
            if source.peek(len(opening)) == opening:
                raise source.error(f"({opening} is {what}, which bpelab can't run", at)
        if source.peek() == "?":
            raise source.error(f"no group begins with ({source.peek(4)}", at)
        self.groups += 1
        self.stack.append(_Frame("capture", self.flags, at, self.groups))

    def set_flags(self, on: str, off: str, group: bool, at: int) -> None:
        names = {"i": "ignore_case", "x": "extended"}
        names |= {"s": "dot_all", "m": "lines", "U": "swap_greed"} if self.dialect == "rust" else {"m": "dot_all"}
        if unknown := [letter for letter in on + off.lstrip("-") if letter not in names]:
            raise self.source.error(f"the flag {unknown[0]} is unknown", at)
        flags = replace(self.flags, **{names[letter]: True for letter in on})
        flags = replace(flags, **{names[letter]: False for letter in off.lstrip("-")})
        if group:
            self.stack.append(_Frame("plain", self.flags, at))
        elif self.dialect == "oniguruma":  # to the end of the group, alternatives and all: a(?i)b|c is a(?i:b|c)
            self.stack.append(_Frame("rest", self.flags, at))
        if len(self.stack) > MAX_DEPTH:
            raise self.source.error(f"groups are nested more than {MAX_DEPTH} deep", at)
        self.flags = flags

    def fold_rest(self) -> None:
        frame = self.stack.pop()
        self.flags = frame.outer
        self.add(frame.closed(), 1 + max(map(abs, frame.depths), default=0))

    def close(self) -> None:
        while self.stack[-1].kind == "rest":
            self.fold_rest()
        if len(self.stack) == 1:
            raise self.source.error("unbalanced parenthesis")
        self.source.at += 1
        self.fold_rest()

    def quantified(self) -> bool:
        """Read a quantifier, if there is one here, and apply it to the last node; return whether there was one."""
        source, at, frame = self.source, self.source.at, self.stack[-1]
        counted = None
        if char := source.match(r"[*+?]"):
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char[0]]
        elif counted := source.match(r"\{(\d*)(,?)(\d*)\}"):
            if not counted[1] and not counted[3] and not (counted[2] and self.dialect == "rust"):
                source.at = at
                return False
            if max(len(counted[1]), len(counted[3])) > 9 or max(int(counted[1] or 0), int(counted[3] or 0)) > MAX_COUNT:
                raise source.error(f"a repetition of more than {MAX_COUNT:,}", at)
            low = int(counted[1] or 0)
            high = (int(counted[3]) if counted[3] else None) if counted[2] else low
        else:
            return False
        if not frame.parts or (isinstance(frame.parts[-1], Anchor | Lookaround | EngineOnly)):
            raise source.error("nothing to repeat", at)
        if (
            self.dialect == "rust"
            and frame.kind != "rest"
            and isinstance(frame.parts[-1], Repeat)
            and frame.depths[-1] < 0
        ):
            raise source.error("a repetition of a repetition", at)
        if high is not None and high < low:
            raise source.error(f"the repetition {{{low},{high}}} goes backwards", at)
        body, depth = frame.parts.pop(), frame.depths.pop()
        node = self.repeated(body, low, high, counted is not None, counted is not None and not counted[2])
        depth = abs(depth) + 1
        if depth > MAX_DEPTH:
            raise source.error(f"repetitions are nested more than {MAX_DEPTH} deep", at)
        self.add(node, -depth)
        return True

    def repeated(self, body: Node, low: int, high: int | None, counted: bool, fixed: bool) -> Node:
        source = self.source
        if self.dialect == "oniguruma" and counted:
            if fixed and source.eat("?"):  # a{2}? is an optional a{2}
                return Repeat(Repeat(body, low, high), 0, 1)
            return Repeat(body, low, high, "lazy" if source.eat("?") else "greedy")  # a `+` that follows repeats it
        if source.eat("+"):
            return Repeat(body, low, high, "possessive")
        lazy = source.eat("?") != self.flags.swap_greed
        return Repeat(body, low, high, "lazy" if lazy else "greedy")


@lru_cache(128)
def parse(pattern: str, dialect: Dialect = "rust") -> Node:
    r"""Return the syntax tree of `pattern`.

    >>> parse("a|b").options[1].fast, parse(r"(?i:k)").ranges
    ('b', ((75, 75), (107, 107), (8490, 8490)))

    Raises PatternError if the pattern is malformed in the dialect, not supported, too long or nested too deeply.
    """
    if len(pattern) > MAX_PATTERN:
        raise Source(pattern, dialect).error(f"a pattern of more than {MAX_PATTERN:,} characters")
    return _Parser(pattern, dialect).parse()
