r"""Expressions of JSON texts: strings, numbers between limits, and lists of members.

In a list each member is followed by a comma, or by the closing bracket, at which the expression only looks. So each
member is in the expression once, whichever others are left out.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..errors import PatternError
from ..regex.ast import (
    Alternation,
    Anchor,
    Group,
    Lookaround,
    Node,
    Repeat,
    Sequence as Concatenation,
    choice,
    sequence,
    single,
)
from ..regex.charsets import CharSet, from_ranges, intersection, literal
from ..regex.parser import parse
from ..unicode.tables import complement

NOTHING: Node = from_ranges(())
"""What no text matches."""
ESCAPES = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
UNESCAPED = complement(((0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0xD800, 0xDFFF)))
NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?"


def text_of(value: str) -> Node:
    """Return the expression of one text."""
    return sequence([literal(ord(char), False) for char in value])


@lru_cache
def of(pattern: str) -> Node:
    """Return the expression of a pattern."""
    return parse(pattern, "rust")


def string(inner: Node) -> Node:
    """Return the expression of a string with these characters."""
    return sequence([text_of('"'), inner, text_of('"')])


def in_string(characters: CharSet) -> Node:
    """Return the expression of one of the characters, as it is written in a string."""
    plain = from_ranges(intersection(characters.ranges, UNESCAPED))
    escaped = [
        text_of("\\" + letter)
        for char, letter in ESCAPES.items()
        if any(first <= ord(char) <= last for first, last in characters.ranges)
    ]
    return choice([plain, *escaped])


@lru_cache
def any_character() -> Node:
    """Return the expression of any character in a string."""
    return in_string(from_ranges(((0, 0x10FFFF),)))


def searched(node: Node) -> Node:
    """Return the expression of a string in which a pattern is found.

    Raises PatternError for anchors in the middle of it, and for what looks ahead or behind.
    """
    while isinstance(node, Group):
        node = node.body
    if isinstance(node, Alternation):
        return choice([searched(option) for option in node.options])
    parts = list(node.parts) if isinstance(node, Concatenation) else [node]
    anything = Repeat(any_character(), 0, None)
    before: list[Node] = [anything]
    after: list[Node] = [anything]
    if parts and parts[0] == Anchor("text_start"):
        before, parts = [], parts[1:]
    if parts and parts[-1] == Anchor("text_end"):
        after, parts = [], parts[:-1]
    return sequence([*before, *map(written, parts), *after])


def written(node: Node) -> Node:
    """Return the expression of what a pattern matches, as it is written in a string."""
    if (one := single(node)) is not None:
        return in_string(one)
    if isinstance(node, Group):
        return written(node.body)
    if isinstance(node, Alternation):
        return choice([written(option) for option in node.options])
    if isinstance(node, Repeat) and node.mode != "possessive":
        return Repeat(written(node.body), node.low, node.high)
    if isinstance(node, Concatenation):
        return sequence([written(part) for part in node.parts])
    raise PatternError(f"a string's pattern has no {type(node).__name__.lower()} but ^ at its start and $ at its end")


def _end(closing: str) -> Node:
    bracket = text_of(closing)
    comma = sequence([of(", ?"), Lookaround(bracket, behind=False, negative=True)])
    return choice([comma, Lookaround(bracket, behind=False, negative=False)])


END = {closing: _end(closing) for closing in "]}"}
"""What follows each member of a list: a comma that isn't the last character before the bracket, or the bracket."""


def bracketed(brackets: str, parts: Sequence[Node]) -> Node:
    """Return the expression of a list, whose parts end as END says."""
    return sequence([text_of(brackets[0]), *parts, text_of(brackets[1])])


def value(of_value: Any) -> Node:
    """Return the expression of one value, whose lists may have spaces after commas and colons."""
    if isinstance(of_value, list):
        return bracketed("[]", [sequence([value(each), END["]"]]) for each in of_value])
    if isinstance(of_value, dict):
        return bracketed("{}", [sequence([member(name, value(each)), END["}"]]) for name, each in of_value.items()])
    return text_of(json.dumps(of_value, ensure_ascii=False))


def member(name: str, node: Node) -> Node:
    """Return the expression of an object's member."""
    return sequence([text_of(json.dumps(name, ensure_ascii=False)), of(": ?"), node])


def integers(low: int | None, high: int | None) -> Node:
    """Return the expression of the integers from `low` to `high`; None is no limit."""
    found = []
    if low is None or low < 0:
        smallest = 1 if high is None or high >= 0 else -high
        found.append(sequence([text_of("-"), _naturals(smallest, None if low is None else -low)]))
    if high is None or high >= 0:
        found.append(_naturals(max(low or 0, 0), high))
    return choice(found) if found else NOTHING


def numbers(low: int | None, high: int | None) -> Node:
    """Return the expression of the numbers from `low` to `high`, without exponents if there is a limit."""
    if low is None and high is None:
        return of(NUMBER)
    fraction = of(r"\.[0-9]{1,15}")
    found = [integers(low, high)]
    if high is None or high > 0:
        found.append(sequence([_naturals(max(low or 0, 0), None if high is None else high - 1), fraction]))
    if low is None or low < 0:
        smallest = 0 if high is None or high >= 0 else -high
        found.append(sequence([text_of("-"), _naturals(smallest, None if low is None else -low - 1), fraction]))
    return choice(found)


def _naturals(low: int, high: int | None) -> Node:
    """Return the expression of the integers from `low`, which is at least 0, to `high`."""
    if high is None:
        longer = sequence([of("[1-9]"), Repeat(of("[0-9]"), len(str(low)), None)])
        return choice([_digits(str(low), "9" * len(str(low))), longer])
    found = []
    while low <= high:
        last = min(high, 10 ** len(str(low)) - 1)
        found.append(_digits(str(low), str(last)))
        low = last + 1
    return choice(found) if found else NOTHING


def _digits(low: str, high: str) -> Node:
    """Return the expression of the numbers between two that have equally many digits."""
    if low == high:
        return text_of(low)
    rest = len(low) - 1
    if low[0] == high[0]:
        return sequence([text_of(low[0]), _digits(low[1:], high[1:])])
    if set(low[1:]) <= {"0"} and set(high[1:]) <= {"9"}:
        return sequence([of(f"[{low[0]}-{high[0]}]"), Repeat(of("[0-9]"), rest, rest)])
    found = [sequence([text_of(low[0]), _digits(low[1:], "9" * rest)])]
    if int(high[0]) - int(low[0]) > 1:
        between = of(f"[{int(low[0]) + 1}-{int(high[0]) - 1}]")
        found.append(sequence([between, Repeat(of("[0-9]"), rest, rest)]))
    return choice([*found, sequence([text_of(high[0]), _digits("0" * rest, high[1:])])])
