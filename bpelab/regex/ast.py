"""The syntax tree of a regular expression: frozen nodes, the same for every dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..unicode.tables import union
from .charsets import CharSet, from_ranges

Where = Literal["text_start", "text_end", "text_end_or_last_newline", "line_start", "line_end", "word", "no_word"]


@dataclass(frozen=True)
class Sequence:
    """A concatenation; without parts it matches the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternation:
    """An alternation: the first option that leads to a match wins."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """A repetition of `body`, from `low` to `high` times; None means no upper limit."""

    body: Node
    low: int
    high: int | None
    mode: Literal["greedy", "lazy", "possessive"] = "greedy"


@dataclass(frozen=True)
class Atomic:
    """An atomic group: the first match of `body`, without backtracking into it."""

    body: Node


@dataclass(frozen=True)
class Group:
    """A capturing group, with its number and an optional name."""

    body: Node
    number: int
    name: str | None = None


@dataclass(frozen=True)
class Lookaround:
    """A lookahead or lookbehind."""

    body: Node
    behind: bool
    negative: bool


@dataclass(frozen=True)
class Anchor:
    """An anchor, such as `^`, `$` or a word boundary.

    `word` is the dialect's set of word characters; `strict` says that no line starts at the end of the text.
    """

    where: Where
    word: CharSet | None = None
    strict: bool = False


@dataclass(frozen=True)
class Backreference:
    """A backreference: the text that a group matched, again."""

    target: int | str


@dataclass(frozen=True)
class EngineOnly:
    r"""`\\G`, `\\K` or `\\X`, which only backtracking engines support."""

    text: str


Node: TypeAlias = (
    CharSet | Sequence | Alternation | Repeat | Atomic | Group | Lookaround | Anchor | Backreference | EngineOnly
)


def children(node: Node) -> tuple[Node, ...]:
    """Return the child nodes."""
    if isinstance(node, Sequence):
        return node.parts
    if isinstance(node, Alternation):
        return node.options
    if isinstance(node, Repeat | Atomic | Group | Lookaround):
        return (node.body,)
    return ()


def sequence(parts: list[Node]) -> Node:
    """Return the concatenation of `parts`, or the part itself if there is only one."""
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def choice(options: list[Node]) -> Node:
    """Return the alternation of `options`, or the option itself if there is only one."""
    return options[0] if len(options) == 1 else Alternation(tuple(options))


def single(node: Node) -> CharSet | None:
    """Return the set if `node` matches exactly one character, as `a|b` and `(?:a)` do too, else None."""
    while isinstance(node, Group):
        node = node.body
    if isinstance(node, CharSet):
        return node
    if isinstance(node, Alternation):
        return _union([single(option) for option in node.options])
    return None


def _union(sets: list[CharSet | None]) -> CharSet | None:
    known = [part for part in sets if part is not None]
    return from_ranges(union(*(part.ranges for part in known))) if len(known) == len(sets) else None
