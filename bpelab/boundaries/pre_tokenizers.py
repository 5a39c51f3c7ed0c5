"""What the pre-tokenizers do between two characters, whatever stands before and behind them.

A place in a text can be safe in two ways. Surely a piece ends there (`CUT`); or a piece may be broken in two, but
nothing else changes (`BROKEN`): then a later step of a Sequence may still cut there, or the vocabulary has no token
that goes over it. Chapter: Streaming. Cost: a look-up in a table, remembered.
"""

from enum import IntEnum
from functools import lru_cache

from ..byte_alphabet import to_alphabet
from ..pretokenizers.base import PreTokenizer
from ..pretokenizers.byte_level import ByteLevel
from ..pretokenizers.components import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from ..pretokenizers.metaspace import Metaspace
from ..pretokenizers.other_tables import script
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split import Split
from ..pretokenizers.split_pattern import SplitPattern
from .safe_pairs import REMEMBERED, Pairs, SafePair, pairs_of, pairs_of_pattern


class Place(IntEnum):
    """What is known about a place between two characters."""

    UNSAFE = 0
    BROKEN = 1
    CUT = 2


def _behaved(behavior: str, invert: bool, left: bool | None, right: bool | None) -> Place:
    """The place in a text that is cut by matches, given which side of it is matched (None: perhaps)."""
    ends = left is True or right is True  # a match ends or begins
    if behavior == "Isolated":
        return Place.CUT if ends else Place.BROKEN
    if behavior == "Removed":
        dropped = (left is not None and left != invert) or (right is not None and right != invert)
        return Place.CUT if ends or dropped else Place.BROKEN
    if left is None or right is None:
        return Place.BROKEN
    if left == right:
        return Place.CUT if left and behavior != "Contiguous" else Place.BROKEN
    if behavior == "Contiguous":
        return Place.CUT
    left_delimits = left != invert
    return Place.CUT if left_delimits == (behavior == "MergedWithPrevious") else Place.BROKEN


def _matched(pairs: Pairs | None, a: str, b: str, behavior: str, invert: bool) -> Place:
    if pairs is None:
        return Place.UNSAFE
    found = pairs.look(a, b)
    return _behaved(behavior, invert, found.left, found.right) if found.restarts and found.forgets else Place.UNSAFE


def _alone(step: PreTokenizer, a: str, b: str) -> Place:
    """A step whose pieces are runs of one kind: the place is cut if the two characters alone are."""
    return Place.CUT if step.split(a + b, False) != [a + b] else Place.BROKEN


def place(step: PreTokenizer, a: str, b: str) -> Place:
    """What a single pre-tokenizer does between the characters `a` and `b`, whatever stands before and behind them."""
    if isinstance(step, Split):
        return _matched(pairs_of(step.pattern, step.dialect), a, b, step.behavior, step.invert)
    if isinstance(step, SplitPattern):
        return _matched(pairs_of_pattern(step.pattern), a, b, step.behavior, step.invert)
    if isinstance(step, ByteLevel):
        return _matched(pairs_of("gpt2", "rust"), a, b, "Isolated", False) if step.use_regex else Place.BROKEN
    if isinstance(step, Metaspace):
        return Place.CUT if step.splits and b in (" ", step.replacement) else Place.BROKEN
    if isinstance(step, Punctuation):
        left, right = (Punctuation("Removed").split(char) == [] for char in (a, b))
        return _behaved(step.behavior, False, left, right)
    if isinstance(step, UnicodeScripts):
        if not script(b):
            return Place.UNSAFE  # at the beginning of a text it would be dropped
        return Place.CUT if script(a) and script(a) != script(b) else Place.BROKEN
    if isinstance(step, (BertPreTokenizer, CharDelimiterSplit, Digits, Whitespace, WhitespaceSplit)):
        return _alone(step, a, b)
    return Place.UNSAFE


def _puts_in_front(step: PreTokenizer) -> bool:
    prefixes = isinstance(step, Metaspace) and step.prepend_scheme == "always"
    return prefixes or (isinstance(step, ByteLevel) and step.add_prefix_space)


def _seen_behind(step: PreTokenizer, a: str, b: str) -> tuple[str, str]:
    """The two characters as the next step sees them."""
    if isinstance(step, ByteLevel):
        return to_alphabet(a.encode()[-1:]), to_alphabet(b.encode()[:1])
    if isinstance(step, Metaspace):
        return a.replace(" ", step.replacement), b.replace(" ", step.replacement)
    return a, b


def steps_of(pre_tokenizer: PreTokenizer) -> tuple[PreTokenizer, ...]:
    """The steps of a Sequence, those of Sequences in it included; of another pre-tokenizer itself."""
    return pre_tokenizer._steps if isinstance(pre_tokenizer, PreTokenizerSequence) else (pre_tokenizer,)


def safe_pair(pre_tokenizer: PreTokenizer, implied: SafePair | None = None) -> SafePair:
    """Whether a text can be cut between two characters without a change to the ids of its pieces.

    `implied` says of two characters, as the model sees them, that a piece broken between them has the same ids.

    >>> safe = safe_pair(Split("cl100k"))
    >>> safe("d", " "), safe(" ", "d"), safe("1", "2"), safe("d", "!")
    (True, False, False, True)
    """
    steps = steps_of(pre_tokenizer)

    @lru_cache(REMEMBERED)
    def safe(a: str, b: str) -> bool:
        for number, step in enumerate(steps):
            if number and _puts_in_front(step):
                return False  # in front of a piece that begins here, or not, if none does
            found = place(step, a, b)
            if found is not Place.BROKEN:
                return found is Place.CUT
            a, b = _seen_behind(step, a, b)
        return implied is not None and implied(a, b)

    return safe


def continued(pre_tokenizer: PreTokenizer) -> PreTokenizer:
    """The pre-tokenizer for what follows such a place: it puts nothing in front.

    >>> continued(Metaspace()).split("two words")
    ['two', '▁words']
    """
    if isinstance(pre_tokenizer, PreTokenizerSequence):
        steps = pre_tokenizer._steps
        return PreTokenizerSequence((continued(steps[0]), *steps[1:])) if steps else pre_tokenizer
    if isinstance(pre_tokenizer, Metaspace):
        return Metaspace(pre_tokenizer.replacement, "never", pre_tokenizer.splits)
    if isinstance(pre_tokenizer, ByteLevel):
        return ByteLevel(False, pre_tokenizer.trim_offsets, pre_tokenizer.use_regex)
    return pre_tokenizer
