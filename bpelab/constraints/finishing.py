"""Whether a text can still be finished, spelled as it has to be.

Between two pieces only the text matters, since every piece has an encoding. A search goes straight for the nearest
match, and remembers the states along its way. Inside a piece that can't end here, tokens are tried, the shortest first,
but before that the bytes with which a piece went on from the same place in another text: in the middle of a character,
most texts go on alike.

Cost: a look-up, or reading a few bytes, where a way was found before; otherwise of the search.
"""

from collections.abc import Iterator
from copy import copy
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count, tee

from ..errors import PatternError
from ..prefix.byte_states import DEAD, ByteStates
from ..prefix.character_kinds import SURROGATES, CharacterKinds
from ..prefix.valid_tokens import NO_TOKEN, Place
from ..regex.dfa import BLOCKS
from .language import Language, Spot
from .spellings import Spelling, Way
from .state_table import StateTable
from .token_trie import Step

CONTINUATIONS = tuple(bytes([byte]) for byte in range(0x80, 0xC0))
MAX_STEPS = 2048
"""The most lists of tokens that are kept for trying them one by one."""
MAX_TRIED = 2_000_000
"""The most tokens that are tried one by one."""


class Finishing:
    """Which states of a language, spelled in tokens, lead to a match.

    Attributes:
        texts: the states of the language's texts.
        table: their steps.
    """

    def __init__(self, language: Language, spelling: Spelling) -> None:
        self.language, self.spelling = language, spelling
        self.texts: ByteStates[Spot] = ByteStates(language)
        self.table = StateTable(self.texts)
        self._examples = examples(language.characters, *spelling.characters)
        self._alive: dict[tuple[int, int], bool] = {}
        self._goes_on: dict[tuple[int, Place], bool] = {}
        self._steps = lru_cache(MAX_STEPS)(self._steps_from)
        self._tried = 0

    def ends(self, text: int, border: int) -> bool:
        closed = self.spelling.close(border)
        return closed != DEAD and self.can_finish(text, closed)

    def lives(self, text: int, place: Place) -> bool:
        """Return whether the text can be finished from a place."""
        if place.last == NO_TOKEN:
            return self.can_finish(text, place.state)
        if not self.spelling.is_whole(place.piece) and self.ends(text, place.state):
            return True
        return self._leads_to_a_border(text, place)

    def _leads_to_a_border(self, text: int, place: Place) -> bool:
        """Return whether more tokens can follow until a piece ends from which the text can be finished."""
        if (text, place) in self._goes_on:
            return self._goes_on[text, place]
        return self._goes_on_as_before(text, place) or self._search(text, place)

    def _goes_on_as_before(self, text: int, place: Place) -> bool:
        """Return whether the piece can go on as it did in another text."""
        if (way := self.spelling.ways.get(place)) is None:
            return False
        after = self.texts.read_all(text, way.data)
        return after != DEAD and self.can_finish(after, way.border)

    def _search(self, text: int, place: Place) -> bool:
        """Try all tokens that can follow until a piece ends, and note the way to there."""
        start = text, place
        seen, waiting = {start}, [(start, b"")]
        while waiting:
            at, before = waiting.pop()
            for token, new in self._next(*at):
                data = before + self.spelling.tokens[token]
                if new[1].last == NO_TOKEN:
                    if not self.can_finish(new[0], new[1].state):
                        continue
                    self.spelling.note(place, Way(data, new[1].state))
                elif new in seen or self._goes_on.get(new) is False:
                    continue
                elif new not in self._goes_on:
                    seen.add(new)
                    waiting.append((new, data))
                    continue
                self._goes_on[start] = True
                return True
        self._goes_on.update(dict.fromkeys(seen, False))
        return False

    def _next(self, text: int, place: Place) -> Iterator[tuple[int, tuple[int, Place]]]:
        """Yield each token that can follow, the shortest first, and the states after it."""
        for token, after, state in copy(self._steps(text, place.state)):
            self._tried += 1
            if self._tried > MAX_TRIED:
                raise PatternError(f"the constraint made more than {MAX_TRIED:,} tokens be tried: simplify it")
            for new in self.spelling.reached(place, token, state):
                yield token, (after, new)

    def _steps_from(self, text: int, border: int) -> Iterator[Step]:
        """Return the tokens with which both automata can go on, the shortest first; a copy of it begins anew."""
        return tee(self.spelling.trie.each(self.table, text, self.spelling.borders, border), 1)[0]

    def matches(self, text: int) -> bool:
        return any(map(self.language.can_end, self.texts.places(text)))

    def can_finish(self, text: int, border: int) -> bool:
        """Return whether some text goes on from here, between two pieces, to a match."""
        start = text, border
        if start in self._alive:
            return self._alive[start]
        before: dict[tuple[int, int], tuple[int, int] | None] = {start: None}
        order = count()
        waiting = [(0, next(order), start)]
        while waiting:
            at = heappop(waiting)[2]
            if self._alive.get(at) or (self.spelling.can_end(at[1]) and self.matches(at[0])):
                return self._mark(at, before)
            for new in self._characters_after(*at):
                if new not in before and self._alive.get(new, True):
                    before[new] = at
                    if self._alive.get(new):
                        return self._mark(new, before)
                    heappush(waiting, (self.distance(new[0]), -next(order), new))
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

    def distance(self, text: int) -> int:
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
