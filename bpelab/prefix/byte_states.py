"""A text read byte by byte by an automaton of characters: one state for all places where it can be, and for a begun
character.

This is the subset construction, made as far as it's needed. Inside a character the places are those from which some
character with these first bytes leads on; bytes with which characters of the same kinds begin are one state. The
automaton may be the guesses about piece borders (`piece_borders.py`), or a regular expression (`constraints/`).

Cost: a look-up for each byte; a state is computed when it is first reached.
"""

from collections.abc import Hashable, Sequence
from itertools import count
from typing import Generic, Protocol, TypeVar

from .character_kinds import CharacterKinds, code_points
from .piece_borders import Guess, PieceBorders

DEAD = -1
Spot = TypeVar("Spot", bound=Hashable)


class Automaton(Protocol[Spot]):
    """Places in a text, which may be several after the same characters."""

    characters: CharacterKinds
    start: Spot

    def after(self, place: Spot, kind: int) -> Sequence[Spot]:
        """Return the places after a character of this kind."""


class ByteStates(Generic[Spot]):
    """The states of texts, numbered as they are reached. `start` is that of the empty text."""

    def __init__(self, automaton: Automaton[Spot]) -> None:
        self._automaton, self.characters = automaton, automaton.characters
        self._numbers: dict[tuple[frozenset[Spot], bytes], int] = {}
        self._states: dict[int, tuple[frozenset[Spot], bytes]] = {}
        self._unused = count()
        self._known: dict[int, int] = {}
        self.start = self.number(frozenset([automaton.start]))

    def places(self, state: int) -> frozenset[Spot]:
        """Return the places in a state; none inside a character."""
        places, begun = self._states[state]
        return frozenset() if begun else places

    def last_places(self, state: int) -> frozenset[Spot]:
        """Return the places in a state; inside a character, those before it."""
        return self._states[state][0]

    def read(self, state: int, byte: int) -> int:
        """Return the state after one more byte; DEAD if there is none."""
        found = self._known.get(state << 8 | byte)
        if found is None:
            places, begun = self._states[state]
            if bool(begun) != (0x80 <= byte < 0xC0):  # a character goes on with these bytes, and begins with others
                return DEAD
            found = self._known[state << 8 | byte] = self._after(places, begun + bytes([byte]))
        return found

    def read_all(self, state: int, data: bytes) -> int:
        """Return the state after more bytes; DEAD if there is none."""
        for byte in data:
            state = self.read(state, byte)
            if state == DEAD:
                break
        return state

    def number(self, places: frozenset[Spot], begun: bytes = b"") -> int:
        """Return the number of a state; DEAD if it has no places."""
        if not places:
            return DEAD
        number = self._numbers.get((places, begun))
        if number is None:
            number = next(self._unused)
            self._states[number] = places, begun
            number = self._numbers.setdefault((places, begun), number)  # another thread may have been first
        return number

    def _after(self, places: frozenset[Spot], data: bytes) -> int:
        """Return the state after a character, or the first bytes of one."""
        after, characters = self._automaton.after, self.characters
        try:
            code_point = ord(data.decode())
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                return DEAD
            kinds = characters.kinds(*code_points(data))
            going_on = frozenset(place for place in places if any(after(place, kind) for kind in kinds))
            return self.number(going_on, characters.alike(data))
        kind = characters.kind(code_point)
        return self.number(frozenset(new for place in places for new in after(place, kind)))


class PieceStates(ByteStates[Guess]):
    """The states of a text that is cut into pieces.

    >>> from bpelab.regex.dfa import dfa_for
    >>> states = PieceStates(PieceBorders(dfa_for("[a-z]+|[^a-z]")))
    >>> letter = states.read(states.start, ord("a"))
    >>> states.read(letter, ord("b")) == letter
    True
    >>> states.read(letter, ord(" ")) == states.read(letter, 0xC3) == DEAD  # neither is a letter, nor begins one
    True
    >>> states.read(states.close(letter), ord(" ")) == DEAD
    False
    """

    def __init__(self, borders: PieceBorders) -> None:
        self._borders = borders
        self._closed: dict[int, int] = {}
        super().__init__(borders)

    def close(self, state: int) -> int:
        """Return the state after the end of a piece here; DEAD if none can end."""
        if state not in self._closed:
            ended = (guess._replace(border=True) for guess in self.places(state))
            self._closed[state] = self.number(frozenset(filter(self._borders.is_possible, ended)))
        return self._closed[state]

    def can_end(self, state: int) -> bool:
        """Return whether the text can end here."""
        return any(map(self._borders.can_end, self.places(state)))
