"""Boundaries: what a pre-tokenizer does between two characters, in any context.

An offset can be a boundary in two ways. Either a piece surely ends there (`CUT`). Or cutting there may break a piece in
two but changes nothing else (`BROKEN`): a later step of a Sequence may still cut there, or no token of the vocabulary
may cross it. Each pre-tokenizer answers for itself, in its method `boundary`; a Sequence asks its steps in turn.

Chapter: Streaming. Cost: a table look-up, cached.
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
    """Return the kind of boundary between two characters, given whether each is matched (None: unknown)."""
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
    """Return the kind of boundary between `a` and `b` when splitting by a pattern; `table` is None if it has no table.

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
    """Return a function of two characters: whether a text can be cut between them without changing ids.

    `implied`, a function of two characters as the model sees them, says whether breaking a piece between them keeps its
    ids.

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
                return False  # prepended if a piece begins here, and not otherwise
            kind = step.boundary(a, b)
            if kind is not Boundary.BROKEN:
                return kind is Boundary.CUT
            before, after = step.for_next_step([a, b])
            a, b = before[-1:], after[:1]
        return implied is not None and implied(a, b)

    return safe
