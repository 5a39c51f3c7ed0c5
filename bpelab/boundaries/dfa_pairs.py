r"""Safe cuts proved from two adjacent characters: the two halves of a text have the same pieces as the whole.

A pre-tokenizer's pattern is a DFA (`regex/dfa.py`). Take every state that the search can be in after a character of the
class of `a`, whatever came before. If all of them end at `b`, no match crosses the place between `a` and `b`, and a new
search starts there. If the end of the text would have the same effect as `b`, the left half has the same pieces without
`b`, and likewise the right half without `a`. So the DFA decides, for any two classes, whether a text can be cut between
them. In cl100k's, "word| word" is safe and "1|2" isn't.

Chapter: Streaming.
Cost: states times the square of the classes, about 10 ms for a named pattern, once; then a look-up.
"""

from functools import lru_cache
from typing import NamedTuple

from ..regex.charsets import Dialect, escaped
from ..regex.dfa import DFA, NotRegular, dfa_for
from ..regex.matchers import Pattern
from ..regex.patterns import as_named_pattern


class BoundaryFacts(NamedTuple):
    """Facts that a pattern's DFA proves about the boundary between two characters."""

    restarts: bool
    """True if a new search certainly starts there."""
    ignores_left_context: bool
    """True if that search works as one at the start of a text does."""
    left: bool | None
    """True if the character before it is in a match, False if not; None if that depends on the text."""
    right: bool | None
    """The same for the character after it."""


class BoundaryTable:
    """The facts about the boundary between any two characters, computed from a DFA.

    >>> cl100k = BoundaryTable(dfa_for(r"\\p{L}+|\\s+(?!\\S)|\\s+"))
    >>> cl100k.restarts("a", " "), cl100k.restarts(" ", " ")
    (True, False)
    """

    def __init__(self, dfa: DFA) -> None:
        self._dfa, self._edge = dfa, dfa.width - 1
        width, trans = dfa.width, dfa.trans
        self._after: list[set[int]] = [set() for _ in range(width)]
        """For each class, the states that the search can be in after a character of that class."""
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
        self._facts_of: dict[tuple[int, int], BoundaryFacts] = {}

    def _step(self, state: int, kind: int) -> int:
        return self._dfa.trans[state * self._dfa.width + kind]

    def look(self, a: str, b: str) -> BoundaryFacts:
        """Return the facts about the boundary between `a` and `b`."""
        codes = self._dfa.codes
        key = codes[ord(a)], codes[ord(b)]
        if key not in self._facts_of:
            self._facts_of[key] = self._look(*key)
        return self._facts_of[key]

    def restarts(self, a: str, b: str) -> bool:
        """Return whether a text cut between `a` and `b` always has the same matches as the whole text."""
        found = self.look(a, b)
        return found.restarts and found.ignores_left_context

    def restarts_with_context(self, a: str, b: str) -> bool:
        """Return the same as `restarts`, if the search in the right half can see the `a` before it."""
        return self.look(a, b).restarts

    def _look(self, a: int, b: int) -> BoundaryFacts:
        entry = self._dfa.entries[a]
        ends = {self._step(state, b) for state in self._after[a]}
        if (
            self._step(entry, b) & 1  # an empty match at the boundary
            or self._step(entry, self._edge) & 1
            or any(step >> 1 for step in ends)
            or any((self._step(state, b) ^ self._step(state, self._edge)) & 1 for state in self._after[a])
        ):
            return BoundaryFacts(False, False, None, None)
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
        return BoundaryFacts(True, entry == self._dfa.entries[self._edge], left, right)


@lru_cache(256)
def pairs_of(pattern: str, dialect: Dialect) -> BoundaryTable | None:
    """Return the boundary table of a pattern, or None if no DFA can run it."""
    named = as_named_pattern(pattern, dialect)
    try:
        return BoundaryTable(dfa_for(named.regex, "rust") if named else dfa_for(pattern, dialect))
    except NotRegular:
        return None


def pairs_of_pattern(pattern: Pattern) -> BoundaryTable | None:
    """Return the boundary table of a pattern from a file."""
    text = pattern.text if pattern.kind == "Regex" else "".join(escaped(ord(char)) for char in pattern.text)
    return pairs_of(text, "oniguruma")
