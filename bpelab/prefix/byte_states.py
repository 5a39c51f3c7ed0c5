"""An automaton of characters reads a text byte by byte, and may stop inside a character.

This is the subset construction, made as far as it's needed: a state is all places where the automaton can be. Inside a
character these are the places from which some character with these first bytes leads on. First bytes with which
characters of the same kinds begin are one state. The automaton may be the guesses about piece borders
(`piece_borders.py`), or a regular expression (`constraints/`).

Cost: a look-up for each byte; a state is computed when it is first reached.
"""

from collections.abc import Collection, Hashable, Sequence, Set
from enum import IntEnum
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

from .borders import Borders
from .character_kinds import CharacterKinds, code_points

DEAD = -1


class Token(IntEnum):
    """What kind of token the bytes are read as."""

    ORDINARY = 0
    ADDED = 1
    BYTE = 2  # of a character that the vocabulary doesn't have


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
        self._known: dict[tuple[Token, int], int] = {}
        self.start = self.number(frozenset([automaton.start]))

    def places(self, state: int) -> frozenset[Spot]:
        """Return the places in a state; none inside a character."""
        places, first_bytes = self._states[state]
        return frozenset() if first_bytes else places

    def last_places(self, state: int) -> frozenset[Spot]:
        """Return the places in a state; inside a character, those before it."""
        return self._states[state][0]

    def first_bytes(self, state: int) -> bytes:
        """Return the first bytes of a character in the middle of which a state is, or others with the same future."""
        return self._states[state][1]

    def alike(self, first_bytes: bytes) -> list[bytes]:
        """Return the bytes that can come after the first ones of a character, in groups that lead to the same state.

        Only characters of the same kind are alike here.
        """
        groups: dict[int | bytes, bytes] = {}
        for byte in range(0x80, 0xC0) if first_bytes else (*range(0x80), *range(0xC2, 0xF5)):
            data = first_bytes + bytes([byte])
            try:
                key: int | bytes = self.characters.kind(ord(data.decode()))
            except UnicodeDecodeError as error:
                if error.reason != "unexpected end of data":
                    continue
                key = self._first_bytes_like(data)
            groups[key] = groups.get(key, b"") + bytes([byte])
        return [*groups.values()]

    def read(self, state: int, byte: int, token: Token = Token.ORDINARY) -> int:
        """Return the state after one more byte; DEAD if there is none."""
        found = self._known.get((token, state << 8 | byte))
        if found is None:
            places, first_bytes = self._states[state]
            if bool(first_bytes) != (
                0x80 <= byte < 0xC0
            ):  # a character goes on with these bytes, and begins with others
                return DEAD
            found = self._known[token, state << 8 | byte] = self._after(places, first_bytes + bytes([byte]), token)
        return found

    def read_all(self, state: int, data: bytes) -> int:
        """Return the state after more bytes; DEAD if there is none."""
        for byte in data:
            state = self.read(state, byte)
            if state == DEAD:
                break
        return state

    def number(self, places: frozenset[Spot], first_bytes: bytes = b"") -> int:
        """Return the number of a state; DEAD if it has no places."""
        if not places:
            return DEAD
        number = self._numbers.get((places, first_bytes))
        if number is None:
            number = next(self._unused)
            self._states[number] = places, first_bytes
            number = self._numbers.setdefault((places, first_bytes), number)  # another thread may have been first
        return number

    def _after(self, places: frozenset[Spot], data: bytes, token: Token) -> int:
        """Return the state after a character, or the first bytes of one."""
        try:
            character = data.decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                return DEAD
            kinds = self._kinds(data, token)
            going_on = frozenset(place for place in places if any(self._reached(place, kind, token) for kind in kinds))
            return self.number(going_on, self._first_bytes_like(data))
        if not self._occurs(character, token):
            return DEAD
        kind = self.characters.kind(ord(character))
        return self.number(frozenset(new for place in places for new in self._reached(place, kind, token)))

    def _reached(self, place: Spot, kind: int, token: Token) -> Sequence[Spot]:
        return self._automaton.after(place, kind)

    def _kinds(self, first_bytes: bytes, token: Token) -> Set[int]:
        """Return the kinds of the characters that begin with these bytes."""
        return self.characters.kinds(*code_points(first_bytes))

    def _first_bytes_like(self, data: bytes) -> bytes:
        """Return the first bytes of a character, or others with the same future."""
        return self.characters.alike(data)

    def _occurs(self, character: str, token: Token) -> bool:
        return True


class PieceStates(ByteStates[Any]):
    """The states of a text that is cut into pieces.

    Args:
        borders: the guesses about where.
        spelled: the characters that the vocabulary has, if others are spelled byte by byte.
        never: characters that no text has.

    >>> from bpelab.prefix.piece_borders import PieceBorders
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

    def __init__(
        self, borders: Borders[Any], spelled: Collection[str] = frozenset(), never: Collection[str] = ()
    ) -> None:
        super().__init__(borders)
        self._borders, self._spelled, self._never = borders, spelled, never
        self._closed: dict[int, int] = {}
        self._unspelled: dict[bytes, set[int]] = {}

    def close(self, state: int) -> int:
        """Return the state after the end of a piece here; DEAD if none can end."""
        if state not in self._closed:
            ended = frozenset(new for guess in self.places(state) for new in self._borders.closed(guess))
            self._closed[state] = self.number(ended)
        return self._closed[state]

    def can_end(self, state: int) -> bool:
        """Return whether the text can end here."""
        return any(map(self._borders.can_end, self.places(state)))

    def _reached(self, place: Any, kind: int, token: Token) -> list[Any]:
        is_added, added = self._borders.is_added, token is Token.ADDED
        return [new for new in self._borders.after(place, kind) if is_added(new) == added]

    def _kinds(self, first_bytes: bytes, token: Token) -> Set[int]:
        """Return the kinds of the characters that begin with these bytes; of a BYTE, those that have no token."""
        every = super()._kinds(first_bytes, token)
        if token is not Token.BYTE:
            return every
        if first_bytes not in self._unspelled:
            first, last = code_points(first_bytes)
            found = set[int]()
            for point in range(first, last + 1):
                if found == every:
                    break
                if not 0xD800 <= point < 0xE000 and chr(point) not in self._spelled:
                    found.add(self.characters.kind(point))
            self._unspelled[first_bytes] = found
        return self._unspelled[first_bytes]

    def _first_bytes_like(self, data: bytes) -> bytes:
        """Return the bytes; those with the same kinds only if no character counts for itself."""
        return data if self._spelled or self._never else super()._first_bytes_like(data)

    def _occurs(self, character: str, token: Token) -> bool:
        return character not in self._never and not (token is Token.BYTE and character in self._spelled)
