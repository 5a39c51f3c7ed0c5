"""The intersection: which tokens can come next so that the text can still be finished, spelled as it has to be.

A state has three parts: where the text is in the expression, where it is in the pattern's pieces, and the token before
it in the same piece. That a token fits all three isn't enough. Its text also has to be one that goes on to a match, and
the tokens that spell the rest have to be compatible with it: `lo` is never followed by `w` if `low` is a token. Between
two pieces the first question is the only one, since every piece has an encoding. It is answered by a search that goes
straight for the nearest match, and remembers the states along its way. Inside a piece that can't end here, tokens are
tried, the shortest first.

Cost: a walk through the trie for each state of the expression and the pieces, kept; then, for each token before, those
that can't follow it are taken away.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from .._support.numpy_import import NDArray, np
from ..errors import PatternError
from ..prefix.byte_states import DEAD, ByteStates
from ..prefix.character_kinds import SURROGATES, CharacterKinds
from ..prefix.valid_tokens import NO_TOKEN, Place, Places
from ..regex.dfa import BLOCKS
from .language import Language, Spot
from .spellings import Spelling
from .state_table import Numbers, StateTable
from .token_trie import Found

CONTINUATIONS = tuple(bytes([byte]) for byte in range(0x80, 0xC0))
MAX_MASKS = 256
"""The most masks that are kept, each of up to half a megabyte."""
MAX_TRIED = 2_000_000
"""The most tokens that are tried one by one."""


class Product:
    """A language, spelled in tokens."""

    def __init__(self, language: Language, spelling: Spelling) -> None:
        self.language, self.spelling = language, spelling
        self.texts: ByteStates[Spot] = ByteStates(language)
        self._table = StateTable(self.texts)
        self._examples = examples(language.characters, *spelling.characters)
        self._alive: dict[tuple[int, int], bool] = {}
        self._goes_on: dict[tuple[int, Place], bool] = {}
        self._walks: dict[tuple[int, int], Found] = {}
        self._fits: dict[tuple[int, int, bytes | None], Numbers] = {}
        self._masks: dict[tuple[int, Places], Numbers] = {}
        self._tried = 0

    def can_begin(self) -> bool:
        """Return whether any text matches."""
        return any(self._lives(self.texts.start, place) for place in self.spelling.start)

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
        return ends and self._matches(text)

    def follow(self, text: int, places: Places, token: int, data: bytes) -> tuple[int, Places]:
        """Return the state after a token; without places if it isn't allowed."""
        after = self.texts.read_all(text, data)
        if after == DEAD or not data:
            return after, frozenset()
        reached = {new for place in places for new in self.spelling.follow(place, token)}
        return after, frozenset(place for place in reached if self._lives(after, place))

    def _allowed(self, text: int, place: Place) -> Numbers:
        tokens = self.spelling.fitting(place.last, self._fitting(text, place.state, place.piece))
        if place.last == NO_TOKEN and self.spelling.whole is not None:
            walked = self.spelling.whole.walk(self._table, text, self.spelling.borders, place.state)
            tokens = union([tokens, walked.tokens[self._ending(walked)]])
        return tokens

    def _fitting(self, text: int, border: int, piece: bytes | None) -> Numbers:
        """Return the tokens that can come next, whatever the token before, in the order of their ids."""
        key = text, border, piece
        if key not in self._fits:
            walked = self._walk(text, border)
            living = self._ending(walked)
            for at in self._uncertain(walked.tokens, living, piece):
                token, after, state = (int(each[at]) for each in walked)
                living[at] = self._lives(after, Place(state, token, self.spelling.longer(piece, token)))
            self._fits[key] = np.sort(walked.tokens[living])
        return self._fits[key]

    def _uncertain(self, tokens: Numbers, living: NDArray[np.bool_], piece: bytes | None) -> list[int]:
        """Return the indices of tokens that can't end a piece, or perhaps not since the piece is a token as a whole."""
        if not self.spelling.has_pieces:
            return []
        longer = self.spelling.longer
        also = (
            []
            if piece is None
            else [at for at, token in enumerate(tokens.tolist()) if longer(piece, token) is not None]
        )
        return sorted({*np.flatnonzero(~living).tolist(), *also})

    def _walk(self, text: int, border: int) -> Found:
        key = text, border
        if key not in self._walks:
            self._walks[key] = self.spelling.trie.walk(self._table, text, self.spelling.borders, border)
        return self._walks[key]

    def _ending(self, walked: Found) -> NDArray[np.bool_]:
        """Return for each token whether a piece can end with it, and the text be finished then."""
        pairs, inverse = np.unique(walked.texts.astype(np.int64) << 32 | walked.borders, return_inverse=True)
        ends = [self._ends(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()]
        return np.array(ends, bool)[inverse]

    def _ends(self, text: int, border: int) -> bool:
        closed = self.spelling.close(border)
        return closed != DEAD and self._can_finish(text, closed)

    def _lives(self, text: int, place: Place) -> bool:
        """Return whether the text can be finished from a place."""
        if place.last == NO_TOKEN:
            return self._can_finish(text, place.state)
        if not self.spelling.is_whole(place.piece) and self._ends(text, place.state):
            return True
        return self._leads_to_a_border(text, place)

    def _leads_to_a_border(self, text: int, place: Place) -> bool:
        """Return whether more tokens can follow until a piece ends from which the text can be finished."""
        start = text, place
        if start not in self._goes_on:
            seen, waiting = {start}, [start]
            while waiting:
                for new in self._next(*waiting.pop()):
                    if new in seen or self._goes_on.get(new) is False:
                        continue
                    if self._goes_on.get(new) or (new[1].last == NO_TOKEN and self._can_finish(new[0], new[1].state)):
                        self._goes_on[start] = True
                        return True
                    seen.add(new)
                    if new[1].last != NO_TOKEN:
                        waiting.append(new)
            self._goes_on.update(dict.fromkeys(seen, False))
        return self._goes_on[start]

    def _next(self, text: int, place: Place) -> Iterator[tuple[int, Place]]:
        """Yield the states after each token that can follow, the shortest first."""
        walked = self._walk(text, place.state)
        for token, after in zip(walked.tokens.tolist(), walked.texts.tolist()):
            self._tried += 1
            if self._tried > MAX_TRIED:
                raise PatternError(f"the constraint made more than {MAX_TRIED:,} tokens be tried: simplify it")
            for new in self.spelling.follow(place, token):
                yield after, new

    def _matches(self, text: int) -> bool:
        return any(map(self.language.can_end, self.texts.places(text)))

    def _can_finish(self, text: int, border: int) -> bool:
        """Return whether some text goes on from here, between two pieces, to a match."""
        start = text, border
        if start in self._alive:
            return self._alive[start]
        before: dict[tuple[int, int], tuple[int, int] | None] = {start: None}
        order = count()
        waiting = [(0, next(order), start)]
        while waiting:
            at = heappop(waiting)[2]
            if self._alive.get(at) or (self.spelling.can_end(at[1]) and self._matches(at[0])):
                return self._mark(at, before)
            for new in self._characters_after(*at):
                if new not in before and self._alive.get(new, True):
                    before[new] = at
                    if self._alive.get(new):
                        return self._mark(new, before)
                    heappush(waiting, (self._distance(new[0]), -next(order), new))
        self._alive.update(dict.fromkeys(before, False))
        return False

    def _mark(self, at: tuple[int, int], before: dict[tuple[int, int], tuple[int, int] | None]) -> bool:
        """Note that the states on the way to one are alive."""
        step: tuple[int, int] | None = at
        while step is not None:
            self._alive[step] = True
            step = before[step]
        return True

    def _characters_after(self, text: int, border: int) -> Iterator[tuple[int, int]]:
        """Yield the states after one more character of each kind, with and without the end of a piece there."""
        texts, borders = self.texts, self.spelling.borders.states
        for data in self._examples if texts.places(text) else CONTINUATIONS:
            if (after := texts.read_all(text, data)) != DEAD and (state := borders.read_all(border, data)) != DEAD:
                yield after, state
                if (closed := self.spelling.close(state)) not in (DEAD, state):
                    yield after, closed

    def _distance(self, text: int) -> int:
        """Return how many characters it takes at least to a match."""
        return min(self.language.distance[place.at] for place in self.texts.last_places(text))


def examples(*characters: CharacterKinds) -> list[bytes]:
    """Return a character of each kind that some of the automata tell apart, as UTF-8."""
    blocks: dict[tuple[int, ...], int] = {}
    for block in range(BLOCKS):
        if block not in SURROGATES:
            blocks.setdefault(tuple(each.stage1[block] for each in characters), block)
    found: dict[tuple[int, ...], int] = {}
    for numbers, block in blocks.items():
        rows = (each.stage2[number << 8 : number + 1 << 8] for number, each in zip(numbers, characters))
        for low, kinds in enumerate(zip(*rows)):
            found.setdefault(kinds, block << 8 | low)
    return [chr(code_point).encode() for code_point in found.values()]


def union(sets: list[Numbers]) -> Numbers:
    """Return the numbers that are in any of the arrays, in order.

    >>> union([np.array([1, 5]), np.array([3, 5])]).tolist()
    [1, 3, 5]
    """
    found = np.zeros(1 + max(int(each.max(initial=-1)) for each in sets), bool)
    for each in sets:
        found[each] = True
    return np.flatnonzero(found).astype(np.int32)
