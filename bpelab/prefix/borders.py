"""Guesses about where a text that goes on is cut, and which of them can still come true.

`piece_borders.py` and `added_borders.py` say what a guess is. Cost: a search over the guesses that can follow, once
for each guess.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Generic, TypeVar

from .character_kinds import CharacterKinds

G = TypeVar("G", bound=Hashable)


class Borders(ABC, Generic[G]):
    """Guesses that are followed character by character. `start` is the only one at the start of a text."""

    start: G

    def __init__(self, characters: CharacterKinds) -> None:
        self.characters = characters
        self.every_kind = characters.kinds(0, 0x10FFFF)
        self._possible: dict[G, bool] = {}

    @abstractmethod
    def is_added(self, guess: G) -> bool:
        """Return whether the piece that ends or goes on here is an added token."""

    @abstractmethod
    def all_after(self, guess: G, kind: int) -> list[G]:
        """Return the guesses after a character of this kind, possible or not."""

    @abstractmethod
    def all_closed(self, guess: G) -> list[G]:
        """Return the guesses that a piece ends here, possible or not."""

    @abstractmethod
    def can_end(self, guess: G) -> bool:
        """Return whether the text can end here."""

    def after(self, guess: G, kind: int) -> list[G]:
        """Return the guesses after a character of this kind: in the piece that goes on, or that begins at a border."""
        return [new for new in self.all_after(guess, kind) if self.is_possible(new)]

    def closed(self, guess: G) -> list[G]:
        """Return the guesses that a piece ends here."""
        return [new for new in self.all_closed(guess) if self.is_possible(new)]

    def is_possible(self, guess: G) -> bool:
        """Return whether some text that follows makes the guess true."""
        if guess not in self._possible:
            seen, waiting = {guess}, [guess]
            for at in waiting:
                if self._possible.get(at) or self.can_end(at):
                    self._possible[guess] = True
                    break
                following = self.all_closed(at)
                following += [new for kind in self.every_kind for new in self.all_after(at, kind)]
                fresh = {new for new in following if new not in seen and self._possible.get(new, True)}
                seen |= fresh
                waiting += fresh
            else:
                self._possible.update(dict.fromkeys(seen, False))
        return self._possible[guess]
