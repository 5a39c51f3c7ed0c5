"""Read one atom of a regular expression: a character, a class, an anchor, an escape or a reference to a group.

The dialects are those of `parser.py`. Cost: linear in the pattern. Chapter: Regex pre-tokenization.
"""

from dataclasses import dataclass

from ..unicode.tables import complement
from .ast import Alternation, Anchor, Atomic, Backreference, EngineOnly, Node, Sequence, Where
from .char_classes import Source, code_point, named_set, read_class
from .charsets import EVERYTHING, CharSet, Dialect, folded, from_property, from_ranges, literal, shorthand


@dataclass(frozen=True)
class Flags:
    """The flags in force at the read position."""

    ignore_case: bool = False
    dot_all: bool = False
    lines: bool = False
    extended: bool = False
    swap_greed: bool = False


class AtomReader:
    """Reads atoms at the read position of `source`; notes the references to groups, which may follow later."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.source, self.dialect, self.flags = Source(pattern, dialect), dialect, Flags()
        self.references: list[tuple[int | str, int]] = []

    def atom(self) -> Node:
        source, flags = self.source, self.flags
        char = source.take()
        if char == "[":
            return read_class(source, flags.ignore_case, flags.extended)
        if char == ".":
            return self.dot(flags.dot_all)
        if char == "^":
            strict = self.dialect == "oniguruma"
            return Anchor("line_start" if flags.lines or strict else "text_start", strict=strict)
        if char == "$":
            return Anchor("line_end" if flags.lines or self.dialect == "oniguruma" else "text_end")
        if char == "\\":
            return self.escape()
        return literal(ord(char), flags.ignore_case)

    def dot(self, everything: bool) -> CharSet:
        text = "(?s:.)" if everything else "."
        return CharSet(EVERYTHING if everything else complement(((10, 10),)), text, (text,), bare=True)

    def escape(self) -> Node:
        source, at = self.source, self.source.at - 1
        letter, oniguruma = source.take(), self.dialect == "oniguruma"
        offsets: dict[str, Where] = {"A": "text_start", "z": "text_end", "Z": "text_end_or_last_newline"}
        if letter in offsets:
            return Anchor(offsets[letter])
        if letter in "bB":
            word = from_property(shorthand("w", self.dialect, False), False)
            return Anchor("word" if letter == "b" else "no_word", word)
        if letter in "GK" or (letter == "X" and oniguruma):
            return EngineOnly("\\" + letter)
        if letter in "NO":
            return self.dot(letter == "O")
        if letter == "R":
            lone = from_ranges(((10, 13), (0x85, 0x85), (0x2028, 0x2029)))
            return Atomic(Alternation((Sequence((literal(13, False), literal(10, False))), lone)))
        if letter in "123456789" or (letter == "k" and source.peek() in ("<", "'")):
            return self.reference(letter, at)
        point = code_point(source, letter)
        if point is not None:
            return literal(point, self.flags.ignore_case)
        if letter in "pP" and oniguruma and source.peek() != "{":
            return literal(ord(letter), self.flags.ignore_case)
        if (named := named_set(source, letter, False)) is not None:
            found, negated = named
            if self.flags.ignore_case and not oniguruma and (wider := folded(found.ranges)) != found.ranges:
                return from_ranges(complement(wider) if negated else wider)
            return from_property(found, negated)
        if oniguruma and letter not in "cCMgyY":
            return literal(ord(letter), self.flags.ignore_case)
        raise source.error(f"\\{letter} is a construct that bpelab can't run", at)

    def reference(self, letter: str, at: int) -> Node:
        source = self.source
        target: int | str
        if letter == "k":
            found = source.match(r"<(\w+)>|'(\w+)'")
            if found is None:
                raise source.error("\\k needs the name of a group in <>", at)
            name: str = found[1] or found[2]
            target = int(name) if name.isdecimal() else name
        else:
            more = source.match(r"[0-9]{0,2}")
            target = int(letter + (more[0] if more else ""))
        return self.refer(target, at)

    def refer(self, target: int | str, at: int) -> Node:
        source = self.source
        if self.flags.ignore_case:  # no available engine compares by the table's case folding
            raise source.error("a reference that ignores case, which bpelab can't run", at)
        self.references.append((target, at))
        return Backreference(target)
