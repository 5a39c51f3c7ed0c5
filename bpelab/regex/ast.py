"""What a regular expression is made of once it is read: a tree of frozen nodes, the same for every dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .regex_sets import CharSet, written
from .unicode_tables import union

Where = Literal["text_start", "text_end", "text_end_or_last_newline", "line_start", "line_end", "word", "no_word"]


@dataclass(frozen=True)
class Sequence:
    """One after the other; no parts match the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """The first option that leads to a match."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """`body` from `low` to `high` times, without an upper end where `high` is None."""

    body: Node
    low: int
    high: int | None
    mode: Literal["greedy", "lazy", "possessive"] = "greedy"


@dataclass(frozen=True)
class Atomic:
    """The first way `body` matches; no other is ever tried."""

    body: Node


@dataclass(frozen=True)
class Group:
    """A group that captures, by number and perhaps by name."""

    body: Node
    number: int
    name: str | None = None


@dataclass(frozen=True)
class Look:
    """A look ahead or behind that consumes nothing."""

    body: Node
    behind: bool
    negative: bool


@dataclass(frozen=True)
class Place:
    """A place in the text: `^`, `$`, a border of a word.

    `word` is what the dialect takes for a word's character; `strict` says that no line starts at the end of the text.
    """

    where: Where
    word: CharSet | None = None
    strict: bool = False


@dataclass(frozen=True)
class Reference:
    """What a group has matched, again."""

    target: int | str


@dataclass(frozen=True)
class Special:
    r"""`\\G`, `\\K` or `\\X`: only a backtracking engine has it."""

    text: str


Node: TypeAlias = CharSet | Sequence | Choice | Repeat | Atomic | Group | Look | Place | Reference | Special


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below."""
    if isinstance(node, Sequence):
        return node.parts
    if isinstance(node, Choice):
        return node.options
    if isinstance(node, Repeat | Atomic | Group | Look):
        return (node.body,)
    return ()


def sequence(parts: list[Node]) -> Node:
    """`parts` one after the other; a single one is itself."""
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def choice(options: list[Node]) -> Node:
    """`options` in their order; a single one is itself."""
    return options[0] if len(options) == 1 else Choice(tuple(options))


def single(node: Node) -> CharSet | None:
    """The set, where `node` matches exactly one character and nothing else; `a|b` and `(?:a)` are sets too."""
    while isinstance(node, Group):
        node = node.body
    if isinstance(node, CharSet):
        return node
    if isinstance(node, Choice):
        return _union([single(option) for option in node.options])
    return None


def _union(sets: list[CharSet | None]) -> CharSet | None:
    known = [part for part in sets if part is not None]
    return written(union(*(part.ranges for part in known))) if len(known) == len(sets) else None
