"""What a pre-tokenizer does between two characters, whatever is before and after them.

An offset can be a boundary in two ways. Surely a piece ends there (`CUT`); or a piece may be broken in two, but
nothing else changes (`BROKEN`): then a later step of a Sequence may still cut there, or the vocabulary has no token
that goes over it. Each pre-tokenizer says it of itself, in its method `boundary`; a Sequence asks its steps in turn.

Chapter: Streaming. Cost: a look-up in a table, remembered.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from ..texts.stages import REMEMBERED, SafePair

if TYPE_CHECKING:
    from ..boundaries.dfa_pairs import BoundaryTable
    from .base import PreTokenizer


class Boundary(IntEnum):
    """What is known about the boundary between two characters."""

    UNSAFE = 0
    BROKEN = 1
    CUT = 2


def boundary_by_behavior(behavior: str, invert: bool, left: bool | None, right: bool | None) -> Boundary:
    """Return the kind of boundary between two characters, given which of them is matched (None: perhaps)."""
    ends = left is True or right is True  # a match ends or begins
    if behavior == "Isolated":
        return Boundary.CUT if ends else Boundary.BROKEN
    if behavior == "Removed":
        dropped = (left is not None and left != invert) or (right is not None and right != invert)
        return Boundary.CUT if ends or dropped else Boundary.BROKEN
    if left is None or right is None:
        return Boundary.BROKEN
    if left == right:
        return Boundary.CUT if left and behavior != "Contiguous" else Boundary.BROKEN
    if behavior == "Contiguous":
        return Boundary.CUT
    left_delimits = left != invert
    return Boundary.CUT if left_delimits == (behavior == "MergedWithPrevious") else Boundary.BROKEN


def boundary_of_pattern(table: BoundaryTable | None, a: str, b: str, behavior: str, invert: bool) -> Boundary:
    """Return the kind of boundary between `a` and `b` for a split by a pattern; `table` is None where none can run it.

    >>> from bpelab.boundaries.dfa_pairs import pairs_of
    >>> boundary_of_pattern(pairs_of("gpt2", "rust"), "d", " ", "Isolated", False).name
    'CUT'
    """
    if table is None:
        return Boundary.UNSAFE
    facts = table.look(a, b)
    if not (facts.restarts and facts.ignores_left_context):
        return Boundary.UNSAFE
    return boundary_by_behavior(behavior, invert, facts.left, facts.right)


def boundary_predicate(pre_tokenizer: PreTokenizer, implied: SafePair | None = None) -> SafePair:
    """Whether a text can be cut between two characters without a change to the ids of its pieces.

    `implied` says of two characters, as the model sees them, that a piece broken between them has the same ids.

    >>> from bpelab.pretokenizers import Split
    >>> safe = boundary_predicate(Split("cl100k"))
    >>> safe("d", " "), safe(" ", "d"), safe("1", "2"), safe("d", "!")
    (True, False, False, True)
    """
    steps = pre_tokenizer.steps

    @lru_cache(REMEMBERED)
    def safe(a: str, b: str) -> bool:
        for index, step in enumerate(steps):
            if index and step.prepends:
                return False  # in front of a piece that begins here, or not, if none does
            kind = step.boundary(a, b)
            if kind is not Boundary.BROKEN:
                return kind is Boundary.CUT
            before, after = step.for_next_step([a, b])
            a, b = before[-1:], after[:1]
        return implied is not None and implied(a, b)

    return safe
