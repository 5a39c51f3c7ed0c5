"""The intersection: which tokens can come next so that the text can still be finished, spelled as it has to be.

A state has three parts: where the text is in the expression, where it is in the pattern's pieces, and the token before
it in the same piece. That a token fits all three isn't enough. Its text also has to be one that goes on to a match, and
the tokens that spell the rest have to be compatible with it: `lo` is never followed by `w` if `low` is a token. That's
what `finishing.py` answers: once for all tokens that lead to the same states and can end a piece, and otherwise token
by token.

Cost: a walk through the trie for each state of the expression and the pieces, kept; then, for each token before, those
that can't follow it are taken away.
"""

from collections.abc import Sequence
from typing import Any

from .._support.numpy_import import NDArray, np
from ..prefix.byte_states import DEAD
from ..prefix.valid_tokens import NO_TOKEN, Place, Places
from .finishing import Finishing
from .language import Language
from .spellings import Spelling
from .state_table import Numbers
from .token_trie import Found

MAX_MASKS = 256
"""The most masks that are kept, each of up to half a megabyte."""
MAX_PAIRS = 1 << 22
"""So many pairs of states are too many for a table of them."""


class Product:
    """A language, spelled in tokens."""

    def __init__(self, language: Language, spelling: Spelling) -> None:
        self.spelling, self.finishing = spelling, Finishing(language, spelling)
        self.texts = self.finishing.texts
        self._fits: dict[tuple[int, int, bytes | None], Numbers] = {}
        self._masks: dict[tuple[int, Places], Numbers] = {}

    def can_begin(self) -> bool:
        """Return whether any text matches."""
        return any(self.finishing.lives(self.texts.start, place) for place in self.spelling.start)

    def allowed(self, text: int, places: Places) -> Numbers:
        """Return the tokens that can come next, in the order of their ids."""
        key = text, places
        if key not in self._masks:
            if len(self._masks) >= MAX_MASKS:
                del self._masks[next(iter(self._masks))]
            found = [self._allowed(text, place) for place in places]
            self._masks[key] = found[0] if len(found) == 1 else union(found)
        return self._masks[key]

    def can_end(self, text: int, places: Places) -> bool:
        """Return whether the text may end here."""
        ends = any(place.last == NO_TOKEN and self.spelling.can_end(place.state) for place in places)
        return ends and self.finishing.matches(text)

    def follow(self, text: int, places: Places, token: int, data: bytes) -> tuple[int, Places]:
        """Return the state after a token; without places if it isn't allowed."""
        after = self.texts.read_all(text, data)
        if after == DEAD or not data:
            return after, frozenset()
        reached = {new for place in places for new in self.spelling.follow(place, token)}
        return after, frozenset(place for place in reached if self.finishing.lives(after, place))

    def _allowed(self, text: int, place: Place) -> Numbers:
        tokens = self.spelling.fitting(place.last, self._fitting(text, place.state, place.piece))
        if place.last == NO_TOKEN and self.spelling.whole is not None:
            walked = self.spelling.whole.walk(self.finishing.table, text, self.spelling.borders, place.state)
            tokens = union([tokens, walked.tokens[self._ending(walked)]])
        return tokens

    def _fitting(self, text: int, border: int, piece: bytes | None) -> Numbers:
        """Return the tokens that can come next, whatever the token before, in the order of their ids."""
        key = text, border, piece
        if key not in self._fits:
            walked = self._walk(text, border)
            living = self._ending(walked)
            uncertain = self._uncertain(walked.tokens, living, piece)
            living[uncertain] = [
                self.finishing.lives(after, Place(state, token, self.spelling.longer(piece, token)))
                for token, after, state in zip(*(each[uncertain].tolist() for each in walked))
            ]
            if len(self._fits) >= MAX_MASKS:
                del self._fits[next(iter(self._fits))]
            self._fits[key] = walked.tokens[living]
        return self._fits[key]

    def _uncertain(self, tokens: Numbers, living: NDArray[np.bool_], piece: bytes | None) -> NDArray[np.intp]:
        """Return the indices of tokens that can't end a piece, or perhaps not since the piece is a token as a whole."""
        if not self.spelling.has_pieces:
            return np.zeros(0, np.intp)
        return np.flatnonzero(~living | np.isin(tokens, self.spelling.begins_whole(piece)))

    def _walk(self, text: int, border: int) -> Found:
        return self.spelling.trie.walk(self.finishing.table, text, self.spelling.borders, border)

    def _ending(self, walked: Found) -> NDArray[np.bool_]:
        """Return for each token whether a piece can end with it, and the text be finished then."""
        width = 1 + int(walked.borders.max(initial=0))
        pairs = walked.texts.astype(np.int64) * width + walked.borders
        if pairs.max(initial=0) > MAX_PAIRS:
            met, pairs = np.unique(pairs, return_inverse=True)
        else:
            met = union([pairs])
        ends = np.zeros(1 + int(pairs.max(initial=0)), bool)
        ends[pairs] = True
        ends[ends] = [self.finishing.ends(*divmod(pair, width)) for pair in met.tolist()]
        found: NDArray[np.bool_] = ends[pairs]
        return found


def union(sets: Sequence[NDArray[np.integer[Any]]]) -> Numbers:
    """Return the numbers that are in any of the arrays, in order.

    >>> union([np.array([1, 5]), np.array([3, 5])]).tolist()
    [1, 3, 5]
    """
    found = np.zeros(1 + max(int(each.max(initial=-1)) for each in sets), bool)
    for each in sets:
        found[each] = True
    return np.flatnonzero(found).astype(np.int32)
