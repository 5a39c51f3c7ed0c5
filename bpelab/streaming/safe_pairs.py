r"""Where a text can be cut so that the two halves give the pieces of the whole: proved from two characters.

A pre-tokenizer's pattern is a table (`pretokenizers/regex_dfa.py`). Take every state in which the search can be after a
character of the class of `a`, whatever came before. If all of them end at `b`, no match reaches over the place between
`a` and `b`, and a new search begins there. If besides the end of the text would have done the same as `b`, the left
half doesn't notice that `b` is missing, nor the right half that `a` is. So the table says of each two classes whether a
text can be cut between them, once and for all. In cl100k's, "word| word" is safe and "1|2" is not.

A place can be safe in two ways. Surely a piece ends there (`CUT`); or a piece may be broken in two, but nothing else
changes (`BROKEN`): then a later step of a Sequence may still cut there. Chapter: Streaming.
Cost: states times the square of the classes, about 10 ms for a named pattern, once; then a look-up.
"""

from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

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
from ..pretokenizers.matching import Pattern, recognised
from ..pretokenizers.metaspace import Metaspace
from ..pretokenizers.other_tables import script
from ..pretokenizers.regex_dfa import DFA, dfa_for
from ..pretokenizers.regex_nfa import NotRegular
from ..pretokenizers.regex_sets import Dialect, escaped
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split import Split, SplitPattern

SafePair = Callable[[str, str], bool]
REMEMBERED = 1 << 14


class Place(IntEnum):
    """What is known about a place between two characters."""

    UNSAFE = 0
    BROKEN = 1
    CUT = 2


class Sight(NamedTuple):
    """What a pattern's table says about the place between two characters."""

    restarts: bool
    """Whether a search surely begins there."""
    forgets: bool
    """Whether that search goes as one at the beginning of a text."""
    left: bool | None
    """Whether the character before it is matched; None for perhaps."""
    right: bool | None
    """Whether the one behind it is."""


class Pairs:
    """What a table says about the place between a character of one class and a character of another.

    >>> cl100k = Pairs(dfa_for(r"\\p{L}+|\\s+(?!\\S)|\\s+"))
    >>> cl100k.restarts("a", " "), cl100k.restarts(" ", " ")
    (True, False)
    """

    def __init__(self, dfa: DFA) -> None:
        self._dfa, self._edge = dfa, dfa.width - 1
        width, trans = dfa.width, dfa.trans
        self._after: list[set[int]] = [set() for _ in range(width)]
        """For each class the states that a string can lead to that ends in it."""
        entries = set(dfa.entries)
        waiting, seen = list(entries), set(entries)
        while waiting:
            row = waiting.pop() * width
            for kind in range(self._edge):
                if state := trans[row + kind] >> 1:
                    self._after[kind].add(state)
                    if state not in seen:
                        seen.add(state)
                        waiting.append(state)
        self._entries = entries
        self._known: dict[tuple[int, int], Sight] = {}

    def _step(self, state: int, kind: int) -> int:
        return self._dfa.trans[state * self._dfa.width + kind]

    def look(self, a: str, b: str) -> Sight:
        """What is known of the place between `a` and `b`."""
        codes = self._dfa._codes
        key = codes[ord(a)], codes[ord(b)]
        if key not in self._known:
            self._known[key] = self._look(*key)
        return self._known[key]

    def restarts(self, a: str, b: str) -> bool:
        """Whether the matches in a text are those before, and those behind a place between `a` and `b`."""
        found = self.look(a, b)
        return found.restarts and found.forgets

    def restarts_behind(self, a: str, b: str) -> bool:
        """As `restarts`, where the search for the matches behind is shown the `a` that stands before them."""
        return self.look(a, b).restarts

    def _look(self, a: int, b: int) -> Sight:
        entry = self._dfa.entries[a]
        ends = {self._step(state, b) for state in self._after[a]}
        if (
            self._step(entry, b) & 1  # an empty match at the place
            or self._step(entry, self._edge) & 1
            or any(step >> 1 for step in ends)
            or any((self._step(state, b) ^ self._step(state, self._edge)) & 1 for state in self._after[a])
        ):
            return Sight(False, False, None, None)
        left = right = None
        if ends <= {0}:
            left = False
        elif ends == {1} and all(self._step(start, a) >> 1 for start in self._entries):
            left = True
        begun = self._step(entry, b) >> 1
        if not begun:
            right = False
        elif all(self._step(begun, kind) & 1 for kind in range(self._dfa.width)):
            right = True
        return Sight(True, entry == self._dfa.entries[self._edge], left, right)


@lru_cache(256)
def pairs_of(pattern: str, dialect: Dialect) -> Pairs | None:
    """The pairs of a pattern; None for one that no table can run, of which nothing can be said."""
    named = recognised(pattern, dialect)
    try:
        return Pairs(dfa_for(named.regex, "rust") if named else dfa_for(pattern, dialect))
    except NotRegular:
        return None


def pairs_of_pattern(pattern: Pattern) -> Pairs | None:
    """The pairs of a file's pattern."""
    text = pattern.text if pattern.kind == "Regex" else "".join(escaped(ord(char)) for char in pattern.text)
    return pairs_of(text, "oniguruma")


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
