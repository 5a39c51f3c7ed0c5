r"""Piece borders in a text whose end isn't known: guess where the pattern cuts, and keep each guess that can come true.

Where a pattern ends a piece may depend on what follows: `\s+(?!\S)` gives the last space to the next word, if there is
one. So for a text that is read from left to right there are several guesses about the borders so far. Each has the
state of the pattern's DFA since the last border, which has to match wherever the next border is guessed, and the DFA's
states since earlier borders, which mustn't match any more: a piece ends with the last match. A guess is dropped as soon
as no text that follows can make it true.

Cost: a few look-ups for each guess and kind of character; two guesses at once are usual.
"""

from typing import NamedTuple

from ..errors import PatternError
from ..regex.dfa import DFA
from .borders import Borders
from .character_kinds import CharacterKinds

START, GAP = -1, 0


class Guess(NamedTuple):
    """A guess about the borders of the text read so far.

    Attributes:
        border: whether a piece ends here.
        run: the DFA's state since the last border; if one is guessed here, since the one before. GAP if the pattern
            matches nowhere in the piece, START at the start of the text.
        no_match: the DFA's states since earlier offsets, from which no match may follow.
        entry: the state in which the DFA begins here.
    """

    border: bool
    run: int
    no_match: frozenset[int]
    entry: int


class PieceBorders(Borders[Guess]):
    """The guesses about where a pattern cuts. `start` is the only one at the start of a text.

    >>> from bpelab.regex.dfa import dfa_for
    >>> borders = PieceBorders(dfa_for(r"\\S+|\\s+(?!\\S)|\\s"))
    >>> letter, space = map(borders.characters.kind, b"a ")
    >>> [inside] = borders.after(borders.start, letter)
    >>> borders.after(inside, space), len(borders.after(inside._replace(border=True), space))
    ([], 1)

    Raises PatternError for a pattern that can match the empty string.
    """

    def __init__(self, dfa: DFA) -> None:
        super().__init__(CharacterKinds(dfa.stage1, dfa.stage2))
        self._trans, self._width, self._entries = dfa.trans, dfa.width, dfa.entries
        if any(self._step(entry, kind) & 1 for entry in set(self._entries) for kind in self.every_kind):
            raise PatternError("a pattern that can match the empty string cuts at places that no character shows")
        self.start = Guess(True, START, frozenset(), self._entries[-1])

    def is_added(self, guess: Guess) -> bool:
        """Return False: there are no added tokens."""
        return False

    def all_closed(self, guess: Guess) -> list[Guess]:
        """Return the guesses that a piece ends here, possible or not."""
        return [] if guess.border else [guess._replace(border=True)]

    def can_end(self, guess: Guess) -> bool:
        """Return whether the text can end here."""
        return guess.border and self._without_match(guess, self._width - 1) is not None

    def _step(self, state: int, kind: int) -> int:
        return self._trans[state * self._width + kind]

    def _without_match(self, guess: Guess, kind: int) -> frozenset[int] | None:
        """Return `no_match` after a character, or the edge, of this kind; None if there is a match before it."""
        steps = [self._step(state, kind) for state in guess.no_match]
        if guess.border and guess.run > 0:
            last = self._step(guess.run, kind)
            if not last & 1:
                return None
            steps.append(last & ~1)
        return None if any(step & 1 for step in steps) else frozenset([step >> 1 for step in steps if step])

    def all_after(self, guess: Guess, kind: int) -> list[Guess]:
        """Return the guesses after a character of this kind, possible or not."""
        no_match, entry = self._without_match(guess, kind), self._entries[kind]
        if no_match is None:
            return []
        begun = self._step(guess.entry, kind) >> 1
        if not guess.border and guess.run != GAP:
            run = self._step(guess.run, kind) >> 1
            return [Guess(False, run, no_match, entry)] if run else []
        found = []
        if guess.border and begun:
            found.append(Guess(False, begun, no_match, entry))
        if not (guess.border and guess.run == GAP):  # after a gap begins a match
            found.append(Guess(False, GAP, no_match | {begun} if begun else no_match, entry))
        return found
