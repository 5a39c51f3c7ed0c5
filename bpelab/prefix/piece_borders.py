r"""Piece borders in a text whose end isn't known: guess where the pattern cuts, and keep each guess that can come true.

Where a pattern ends a piece may depend on what follows: `\s+(?!\S)` gives the last space to the next word, if there is
one. So a text that is read from left to right is in several states at once. Each is a guess about the borders so far.
It has the state of the pattern's DFA since the last border, which has to match wherever the next border is guessed, and
the DFA's states since earlier borders, which mustn't match any more: a piece ends with the last match. A guess is
dropped as soon as no text that follows can make it true.

Cost: a look-up for each character and guess; two guesses at once are usual. States are computed when they are reached.
"""

from typing import NamedTuple

from ..errors import PatternError
from ..regex.dfa import DFA

START, GAP = -1, 0
SURROGATES = range(0xD8, 0xE0)
"""Blocks of 256 code points that occur in no valid text."""


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


class PieceBorders:
    """The guesses about where a pattern cuts, numbered as they are reached; the text is at its start in `start`.

    >>> from bpelab.regex.dfa import dfa_for
    >>> borders = PieceBorders(dfa_for(r"\\S+|\\s+(?!\\S)|\\s"))
    >>> [inside] = borders.read(borders.start, "a")
    >>> borders.read(inside, " "), len(borders.read(borders.close(inside), " "))
    ((), 1)

    Raises PatternError for a pattern that can match the empty string.
    """

    def __init__(self, dfa: DFA) -> None:
        self._trans, self._width, self._entries, self._codes = dfa.trans, dfa.width, dfa.entries, dfa.codes
        blocks = {block for at, block in enumerate(dfa.stage1) if at not in SURROGATES}
        self._kinds = sorted({kind for block in blocks for kind in dfa.stage2[block << 8 : block + 1 << 8]})
        if any(self._trans[entry * self._width + kind] & 1 for entry in set(self._entries) for kind in self._kinds):
            raise PatternError("a pattern that can match the empty string cuts at places that no character shows")
        self._numbers: dict[Guess, int] = {}
        self._guesses: list[Guess] = []
        self._possible: dict[Guess, bool] = {}
        self._read: dict[tuple[int, int], tuple[int, ...]] = {}
        self._closed: dict[int, int | None] = {}
        self.start = self._number(Guess(True, START, frozenset(), self._entries[-1]))

    def read(self, guess: int, char: str) -> tuple[int, ...]:
        """Return the guesses after `char`, which is in the piece that began at a guessed border, or goes on."""
        key = guess, self._codes[ord(char)]
        found = self._read.get(key)
        if found is None:
            after = filter(self._is_possible, self._after(self._guesses[guess], key[1]))
            found = self._read[key] = tuple(map(self._number, after))
        return found

    def close(self, guess: int) -> int | None:
        """Return the guess that a piece ends here; None if that's impossible."""
        if guess not in self._closed:
            border = self._guesses[guess]._replace(border=True)
            self._closed[guess] = self._number(border) if self._is_possible(border) else None
        return self._closed[guess]

    def _number(self, guess: Guess) -> int:
        number = self._numbers.setdefault(guess, len(self._guesses))
        if number == len(self._guesses):
            self._guesses.append(guess)
        return number

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

    def _after(self, guess: Guess, kind: int) -> list[Guess]:
        """Return the guesses after a character of this kind."""
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

    def _is_possible(self, guess: Guess) -> bool:
        """Return whether some text that follows makes the guess true."""
        if guess not in self._possible:
            seen, waiting = {guess: None}, [guess]
            for at in waiting:
                if self._possible.get(at) or (at.border and self._without_match(at, self._width - 1) is not None):
                    self._possible[guess] = True
                    break
                following = [] if at.border else [at._replace(border=True)]
                following += [new for kind in self._kinds for new in self._after(at, kind)]
                for new in following:
                    if new not in seen and self._possible.get(new, True):
                        seen[new] = None
                        waiting.append(new)
            else:
                self._possible.update(dict.fromkeys(seen, False))
        return self._possible[guess]
