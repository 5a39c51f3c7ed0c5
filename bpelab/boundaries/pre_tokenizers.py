"""What the pre-tokenizers do between two characters, whatever is before and after them.

An offset can be a boundary in two ways. Surely a piece ends there (`CUT`); or a piece may be broken in two, but
nothing else changes (`BROKEN`): then a later step of a Sequence may still cut there, or the vocabulary has no token
that goes over it. Chapter: Streaming. Cost: a look-up in a table, remembered.
"""

from enum import IntEnum
from functools import lru_cache, singledispatch

from ..pretokenizers.base import PreTokenizer
from ..pretokenizers.byte_level import ByteLevel
from ..pretokenizers.char_types import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from ..pretokenizers.metaspace import Metaspace
from ..pretokenizers.split import Split
from ..pretokenizers.split_pattern import SplitPattern
from ..unicode.byte_alphabet import to_alphabet
from ..unicode.hf_pretokenizer_tables import script
from .dfa_pairs import REMEMBERED, BoundaryTable, SafePair, pairs_of, pairs_of_pattern


class Boundary(IntEnum):
    """What is known about the boundary between two characters."""

    UNSAFE = 0
    BROKEN = 1
    CUT = 2


def _by_behavior(behavior: str, invert: bool, left: bool | None, right: bool | None) -> Boundary:
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


def _matched(pairs: BoundaryTable | None, a: str, b: str, behavior: str, invert: bool) -> Boundary:
    if pairs is None:
        return Boundary.UNSAFE
    found = pairs.look(a, b)
    return (
        _by_behavior(behavior, invert, found.left, found.right)
        if found.restarts and found.ignores_left_context
        else Boundary.UNSAFE
    )


@singledispatch
def boundary(step: PreTokenizer, a: str, b: str) -> Boundary:
    """Return what a single pre-tokenizer does between the characters `a` and `b`, whatever is around them.

    A class that isn't registered says nothing: its texts are never cut.
    """
    return Boundary.UNSAFE


@boundary.register
def _(step: Split, a: str, b: str) -> Boundary:
    return _matched(pairs_of(step.pattern, step.dialect), a, b, step.behavior, step.invert)


@boundary.register
def _(step: SplitPattern, a: str, b: str) -> Boundary:
    return _matched(pairs_of_pattern(step.pattern), a, b, step.behavior, step.invert)


@boundary.register
def _(step: ByteLevel, a: str, b: str) -> Boundary:
    return _matched(pairs_of("gpt2", "rust"), a, b, "Isolated", False) if step.use_regex else Boundary.BROKEN


@boundary.register
def _(step: Metaspace, a: str, b: str) -> Boundary:
    return Boundary.CUT if step.splits and b in (" ", step.replacement) else Boundary.BROKEN


@boundary.register
def _(step: Punctuation, a: str, b: str) -> Boundary:
    left, right = (Punctuation("Removed").split(char) == [] for char in (a, b))
    return _by_behavior(step.behavior, False, left, right)


@boundary.register
def _(step: UnicodeScripts, a: str, b: str) -> Boundary:
    if not script(b):
        return Boundary.UNSAFE  # at the beginning of a text it would be dropped
    return Boundary.CUT if script(a) and script(a) != script(b) else Boundary.BROKEN


@boundary.register(BertPreTokenizer)
@boundary.register(CharDelimiterSplit)
@boundary.register(Digits)
@boundary.register(Whitespace)
@boundary.register(WhitespaceSplit)
def _(step: PreTokenizer, a: str, b: str) -> Boundary:
    """Return CUT, where pieces are runs of one kind, if the two characters alone are cut."""
    return Boundary.CUT if step.split(a + b, False) != [a + b] else Boundary.BROKEN


@singledispatch
def _as_seen_by_next(step: PreTokenizer, a: str, b: str) -> tuple[str, str]:
    """Return the two characters as the next step sees them."""
    return a, b


@_as_seen_by_next.register
def _(step: ByteLevel, a: str, b: str) -> tuple[str, str]:
    return to_alphabet(a.encode()[-1:]), to_alphabet(b.encode()[:1])


@_as_seen_by_next.register
def _(step: Metaspace, a: str, b: str) -> tuple[str, str]:
    return a.replace(" ", step.replacement), b.replace(" ", step.replacement)


def boundary_predicate(pre_tokenizer: PreTokenizer, implied: SafePair | None = None) -> SafePair:
    """Whether a text can be cut between two characters without a change to the ids of its pieces.

    `implied` says of two characters, as the model sees them, that a piece broken between them has the same ids.

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
            found = boundary(step, a, b)
            if found is not Boundary.BROKEN:
                return found is Boundary.CUT
            a, b = _as_seen_by_next(step, a, b)
        return implied is not None and implied(a, b)

    return safe
