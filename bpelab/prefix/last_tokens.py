"""The last tokens of covers, kept for later prompts, since half a vocabulary can follow after a space.

`ValidTokens.beyond` is the definition. Here the walk through the trie is kept for each state of a text. Which of the
tokens that it finds fit depends only on the token before; that is looked up for all at once (`incompatible.py`), and
kept, too.

Cost: a second for a new state after which half a large vocabulary can follow, tens of milliseconds for a new token
before it, and then microseconds.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar

from .._support.numpy_import import NDArray, np
from .byte_states import DEAD

if TYPE_CHECKING:
    from .valid_tokens import Places, ValidTokens

CACHE_SIZE = 32
"""How many walks, and how many results, are kept."""
V = TypeVar("V")
Ids = NDArray[np.int64]


class LastTokens:
    """The tokens with which covers go beyond a text, as arrays."""

    def __init__(self, valid: "ValidTokens") -> None:
        self._valid = valid
        self._walks: OrderedDict[Hashable, tuple[Ids, Ids]] = OrderedDict()
        self._found: OrderedDict[Hashable, Ids] = OrderedDict()
        texts = [valid.tokens.get(token, b"") for token in range(max(valid.tokens) + 1)]
        self._sizes = np.array(list(map(len, texts)))
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._texts = np.frombuffer(b"".join(texts), np.uint8)

    def beyond(self, places: "Places", rest: bytes) -> Ids:
        """Return the tokens of `ValidTokens.beyond`, in the order of their ids."""
        if len(rest) > self._valid.longest:
            return np.empty(0, np.int64)
        return _cached(self._found, (places, rest), lambda: self._beyond(places, rest))

    def bytes_at(self, tokens: Ids, at: int) -> Ids:
        """Return the byte at an offset of each token."""
        found: Ids = self._texts[self._starts[tokens] + at].astype(np.int64)
        return found

    def _beyond(self, places: "Places", rest: bytes) -> Ids:
        found = [np.empty(0, np.int64)]
        for place in places:
            tokens, states = _cached(self._walks, (place.state, rest), lambda: self._walk(place.state, rest))  # noqa: B023
            if place.last >= 0:
                fits = self._valid.neighbours.fitting(place.last, tokens)
                tokens, states = tokens[fits], states[fits]
            certain = np.isin(states, [state for state in np.unique(states).tolist() if self._ends(state)])
            if place.piece is not None:
                certain &= ~np.isin(tokens, self._valid.begins_whole(place.piece))
            found.append(tokens[certain])
            uncertain = zip(tokens[~certain].tolist(), states[~certain].tolist())
            rows = [*self._valid.reached(place, uncertain), *self._valid.from_others(place, rest)]
            more = [
                token for token, at in rows if self._sizes[token] > len(rest) and self._valid.can_end(frozenset(at))
            ]
            found.append(np.array(more, np.int64))
        return np.unique(np.concatenate(found))

    def _ends(self, state: int) -> bool:
        return self._valid.states.close(state) != DEAD

    def _walk(self, state: int, rest: bytes) -> tuple[Ids, Ids]:
        """Return the tokens that go beyond `rest` after a state, and the states after them."""
        rows = [row for row in self._valid.walk(state, rest) if self._sizes[row[0]] > len(rest)]
        tokens, states = np.array(rows, np.int64).reshape(-1, 2).T
        return tokens, states


def _cached(cache: "OrderedDict[Hashable, V]", key: Hashable, make: Callable[[], V]) -> V:
    """Return what a cache has for a key, or make it; the one used longest ago is dropped."""
    found = cache.pop(key) if key in cache else make()
    cache[key] = found
    if len(cache) > CACHE_SIZE:
        cache.popitem(last=False)
    return found
