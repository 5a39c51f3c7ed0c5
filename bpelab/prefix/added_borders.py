"""Borders of added tokens and pieces: added tokens are found first, and the text between them is cut by the pattern.

Two guesses at once, each as in `piece_borders.py`. The outer one is about the added tokens: a pattern that lists them,
the longest first, finds what their search finds. A match is a token, and a gap is the text between two. The inner guess
is about the pieces of that text, and sees the edges of a text at both of its ends.

Cost: that of both for each character. Source: `added_vocabulary.rs` in Hugging Face tokenizers.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ..regex.dfa import dfa_for
from .borders import Borders
from .character_kinds import told_apart_by_both
from .piece_borders import GAP, Guess, PieceBorders


class Pair(NamedTuple):
    """A guess about added tokens, and one about pieces; None in and after an added token."""

    added: Guess
    piece: Guess | None


class AddedBorders(Borders[Pair]):
    """The guesses about where added tokens and pieces end.

    >>> from bpelab.regex.dfa import dfa_for
    >>> borders = AddedBorders(["<a>"], PieceBorders(dfa_for("[^b]+|b")))
    >>> opened = borders.after(borders.start, borders.characters.kind(ord("<")))
    >>> [borders.is_added(pair) for pair in opened]  # of `<a>`, and of a text such as `<b`
    [True, False]
    """

    def __init__(self, tokens: Iterable[str], pieces: PieceBorders) -> None:
        longest_first = sorted(tokens, key=len, reverse=True)
        self._added = PieceBorders(dfa_for("|".join(map(re.escape, longest_first)), "rust"))
        self._pieces = pieces
        characters, self._pairs = told_apart_by_both(self._added.characters, pieces.characters)
        super().__init__(characters)
        self.start = Pair(self._added.start, None)

    def is_added(self, guess: Pair) -> bool:
        """Return whether the piece that ends or goes on here is an added token."""
        return guess.added.run > GAP

    def all_after(self, guess: Pair, kind: int) -> list[Pair]:
        """Return the guesses after a character of this kind, possible or not."""
        added_kind, piece_kind = self._pairs[kind]
        begun = self._pieces.start if guess.added.border or guess.piece is None else guess.piece
        found = list[Pair]()
        for added in self._added.all_after(guess.added, added_kind):
            if added.run != GAP:
                found.append(Pair(added, None))
            else:
                found += [Pair(added, piece) for piece in self._pieces.all_after(begun, piece_kind)]
        return found

    def all_closed(self, guess: Pair) -> list[Pair]:
        """Return the guesses that a piece ends here, possible or not."""
        added, piece = guess
        ended = added._replace(border=True)
        if added.border or piece is None:
            return [] if added.border else [Pair(ended, None)]
        if piece.border:
            return []
        [closed] = self._pieces.all_closed(piece)
        return [Pair(added, closed)] + ([Pair(ended, None)] if self._pieces.can_end(closed) else [])

    def can_end(self, guess: Pair) -> bool:
        """Return whether the text can end here."""
        return self._added.can_end(guess.added)
