"""Parse a character class, `[...]`, of a regular expression in either dialect.

Classes nest and have set operations: `&&`, and in Rust also `--` and `~~`. Cost: linear in the class and in the number
of ranges of the sets that it names.
"""

import re

from ..errors import PatternError
from ..unicode.tables import Ranges, class_body, complement, union
from .charsets import (
    CharSet,
    Dialect,
    Property,
    escaped,
    find_property,
    folded,
    intersection,
    posix,
    shorthand,
    spelled,
)

MAX_DEPTH = 100
"""The deepest nesting of groups, classes and stacked quantifiers."""
CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7, "e": 27}


class Source:
    """A pattern and the read position in it; errors name both."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        self.pattern, self.dialect, self.at = pattern, dialect, 0

    def peek(self, length: int = 1) -> str:
        return self.pattern[self.at : self.at + length]

    def take(self, length: int = 1) -> str:
        if self.at + length > len(self.pattern):
            raise self.error("ends in the middle of a construct")
        self.at += length
        return self.pattern[self.at - length : self.at]

    def eat(self, text: str) -> bool:
        found = self.pattern.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def match(self, expression: str) -> re.Match[str] | None:
        """Match `expression`, a trusted regular expression, at the read position, and move past the match."""
        found = re.compile(expression).match(self.pattern, self.at)
        self.at = found.end() if found else self.at
        return found

    def error(self, problem: str, at: int | None = None) -> PatternError:
        shown = repr(self.pattern) if len(self.pattern) <= 200 else repr(self.pattern[:80]) + "…"
        return PatternError(f"{shown}: {problem} (at character {self.at if at is None else at})")


def code_point(source: Source, letter: str) -> int | None:
    r"""Return the code point of an escape such as `\n` or `\x41`, or None. `letter` has already been read."""
    if letter in CONTROLS:
        return CONTROLS[letter]
    if letter in "xuU" and not (letter == "U" and source.dialect == "oniguruma"):
        found = None
        if letter == "x" or source.dialect == "rust":
            found = source.match(r"\{\s*([0-9A-Fa-f]{1,8})\s*\}")
        found = found or source.match(
            {"x": "([0-9A-Fa-f]{1,2})", "u": "([0-9A-Fa-f]{4})", "U": "([0-9A-Fa-f]{8})"}[letter]
        )
        if found is None or int(found[1], 16) > 0x10FFFF:
            raise source.error(f"\\{letter} is not followed by the number of a character")
        return int(found[1], 16)
    if letter == "o" and source.dialect == "oniguruma" and (found := source.match(r"\{([0-7]{1,7})\}")):
        return int(found[1], 8)
    if letter == "0" and source.dialect == "oniguruma":
        found = source.match("[0-7]{0,2}")
        return int(found[0] or "0", 8) if found else 0
    if not letter.isalnum() or not letter.isascii():
        return ord(letter)
    return None


def named_set(source: Source, letter: str, in_class: bool) -> tuple[Property, bool] | None:
    r"""Return the property of `\s`, `\P{L}` ... and whether it is negated, or None for any other escape."""
    if letter in "pP":
        found = source.match(r"\{(\^?)([^{}]*)\}") or (source.match(r"()(\w)") if source.dialect == "rust" else None)
        if found is None:
            raise source.error(f"\\{letter}{{ is not closed")
        try:
            return find_property(found[2], source.dialect, in_class), (letter == "P") != (found[1] == "^")
        except PatternError as error:
            raise source.error(str(error)) from None
    if letter.lower() in "sdwh":
        return shorthand(letter.lower(), source.dialect, in_class), letter.isupper()
    return None


class _Terms:
    """The members of a class between two set operators."""

    def __init__(self) -> None:
        self.ranges: list[Ranges] = []
        self.parts: list[str | Ranges] = []
        self.fast: list[str] = []
        self.properties: set[Property] = set()

    def add(self, ranges: Ranges, part: str | Ranges | None = None, fast: str | None = None) -> None:
        self.ranges.append(ranges)
        self.parts.append(ranges if part is None else part)
        self.fast.append(class_body(ranges) if fast is None else fast)

    def add_property(self, unicode_property: Property, negated: bool) -> None:
        self.add(
            complement(unicode_property.ranges) if negated else unicode_property.ranges,
            None,
            spelled(unicode_property, negated, True),
        )
        self.properties.add(unicode_property)

    def closed(self, negated: bool, ignore_case: bool) -> CharSet:
        ranges = union(*self.ranges)
        if ignore_case and (wider := folded(ranges)) != ranges:
            ranges, self.parts, self.fast, self.properties = wider, [wider], [class_body(wider)], set()
        whole = complement(ranges) if negated else ranges
        if not self.ranges or not ranges:
            text = "[\\s\\S]" if negated else "[^\\x00-\\U0010ffff]"
            return CharSet(whole, text, (text,), bare=True)
        fast = f"[{'^' if negated else ''}{''.join(self.fast)}]"
        return CharSet(whole, fast, tuple(self.parts), negated, properties=frozenset(self.properties))


def read_class(source: Source, ignore_case: bool, extended: bool = False, depth: int = 1) -> CharSet:
    """Read the class whose `[` has just been read, including its `]`.

    Raises PatternError if the class isn't closed, is empty, or has a member that its dialect doesn't allow.
    """
    if depth > MAX_DEPTH:
        raise source.error(f"classes are nested more than {MAX_DEPTH} deep")
    opened = source.at - 1
    negated, first = source.eat("^"), True
    left: CharSet | None = None
    operator, terms = "", _Terms()
    while True:
        if source.at >= len(source.pattern):
            raise source.error("a character class is not closed", opened)
        if source.peek() == "]" and not (first and "]" in source.pattern[source.at + 1 :]):
            break
        found = next((op for op in _operators(source.dialect) if source.peek(2) == op), None)
        if found and not (first and found == "--"):
            source.at += 2
            left = _combined(left, operator, terms.closed(False, ignore_case))
            operator, terms = found, _Terms()
        else:
            _term(source, terms, ignore_case, extended, depth)
        first = False
    source.at += 1
    if left is None:
        if not terms.ranges:
            raise source.error("an empty character class", opened)
        return terms.closed(negated, ignore_case)
    whole = _combined(left, operator, terms.closed(False, ignore_case))
    return _negated(whole) if negated else whole


def _operators(dialect: Dialect) -> tuple[str, ...]:
    return ("&&", "--", "~~") if dialect == "rust" else ("&&",)


def _combined(left: CharSet | None, operator: str, right: CharSet) -> CharSet:
    if left is None:
        return right
    both = intersection(left.ranges, right.ranges)
    if operator == "&&":
        ranges = both
    elif operator == "--":
        ranges = intersection(left.ranges, complement(right.ranges))
    else:
        ranges = intersection(union(left.ranges, right.ranges), complement(both))
    fast = f"[{left.fast}{operator}{right.fast}]"
    return CharSet(
        ranges,
        fast,
        (ranges or "[^\\x00-\\U0010ffff]",),
        bare=not ranges,
        properties=left.properties | right.properties,
    )


def _negated(whole: CharSet) -> CharSet:
    return CharSet(
        complement(whole.ranges), f"[^{whole.fast}]", (complement(whole.ranges),), properties=whole.properties
    )


def _term(source: Source, terms: _Terms, ignore_case: bool, extended: bool, depth: int) -> None:
    """Read one member of a class into `terms`: a character, a range, a property or a nested class."""
    at = source.at
    if extended and source.dialect == "rust" and source.match(r"\s+"):
        return
    if source.peek() == "[":
        if (found := source.match(r"\[:(\^?)([A-Za-z]{1,20}):\]")) is not None:
            known = posix(found[2], source.dialect)
            if known is not None:
                terms.add_property(known, bool(found[1]))
                return
            if source.dialect == "oniguruma":
                raise source.error(f"there is no POSIX class {found[0]}", at)
            source.at = at
        source.at += 1
        inner = read_class(source, ignore_case, extended, depth + 1)
        terms.add(inner.ranges, None, inner.fast)
        terms.properties |= inner.properties
        return
    low = _member(source, terms)
    if low is None:
        if source.peek() == "-" and source.peek(2) not in ("-]", "--"):
            raise source.error("a range begins with a set of characters")
        return
    if (
        source.peek() != "-"
        or source.peek(2) in ("-]", "-")
        or (source.peek(2) in ("--", "-[") and source.dialect == "rust")
    ):
        terms.add(((low, low),), escaped(low), escaped(low))
        return
    source.at += 1
    high = _member(source, None)
    if high is None or high < low:
        raise source.error("a range of characters that goes backwards or ends in a set", at)
    terms.add(((low, high),), f"{escaped(low)}-{escaped(high)}", f"{escaped(low)}-{escaped(high)}")


def _member(source: Source, terms: _Terms | None) -> int | None:
    """Read one character and return its code point, or add a property to `terms` and return None."""
    at, char = source.at, source.take()
    if char != "\\":
        return ord(char)
    letter = source.take()
    if letter == "b":
        return 8
    if letter in "1234567" and source.dialect == "oniguruma" and (found := source.match("[0-7]{0,2}")) is not None:
        return int(letter + found[0], 8)
    if (point := code_point(source, letter)) is not None:
        return point
    if (named := named_set(source, letter, True)) is not None:
        if terms is None:
            raise source.error("a range of characters that ends in a set", at)
        terms.add_property(*named)
        return None
    if source.dialect == "oniguruma" and letter not in "cCM":
        return ord(letter)
    raise source.error(f"\\{letter} in a character class", at)
