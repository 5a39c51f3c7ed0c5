"""A text read byte by byte: one state for all guesses about its piece borders and for the character that has begun.

This is the subset construction, made as far as it's needed: the guesses that are possible after the same bytes are one
state (`piece_borders.py`). Inside a character they are those after which some character with these first bytes fits.

Cost: a look-up for each byte; a state is computed when it is first reached.
"""

from collections.abc import Collection, Hashable
from enum import IntEnum
from itertools import count
from typing import Any, NamedTuple

from .borders import Borders

DEAD = -1
FIRST_OF_LENGTH = {2: 0x80, 3: 0x800, 4: 0x10000}
"""The first code point that UTF-8 writes with this many bytes."""


class Token(IntEnum):
    """What kind of token the bytes are read as."""

    ORDINARY = 0
    ADDED = 1
    BYTE = 2  # of a character that the vocabulary doesn't have


class State(NamedTuple):
    """The possible guesses about the text so far, and the bytes of an incomplete character at its end."""

    guesses: frozenset[Hashable]
    begun: bytes


class ByteStates:
    """The states of texts, numbered as they are reached. `start` is that of the empty text.

    Args:
        borders: the guesses.
        characters: those that the vocabulary has, if others are spelled byte by byte.
        never: characters that no text has.

    >>> from bpelab.prefix.piece_borders import PieceBorders
    >>> from bpelab.regex.dfa import dfa_for
    >>> states = ByteStates(PieceBorders(dfa_for("[a-z]+|[^a-z]")))
    >>> letter = states.read(states.start, ord("a"))
    >>> states.read(letter, ord("b")) == letter
    True
    >>> states.read(letter, ord(" ")) == states.read(letter, 0xC3) == DEAD  # neither is a letter, nor begins one
    True
    >>> states.read(states.close(letter), ord(" ")) == DEAD
    False
    """

    def __init__(
        self, borders: Borders[Any], characters: Collection[str] = frozenset(), never: Collection[str] = ()
    ) -> None:
        self._borders, self._characters, self._never = borders, characters, never
        self._numbers: dict[State, int] = {}
        self._states: dict[int, State] = {}
        self._unused = count()
        self._known: dict[tuple[Token, int], int] = {}
        self._closed: dict[int, int] = {}
        self._spelled: dict[bytes, set[int]] = {}
        self.start = self._number(State(frozenset([borders.start]), b""))

    def read(self, state: int, byte: int, token: Token = Token.ORDINARY) -> int:
        """Return the state after one more byte of the same piece, or of one that begins here; DEAD if there is none."""
        found = self._known.get((token, state << 8 | byte))
        if found is None:
            guesses, begun = self._states[state]
            if bool(begun) != (0x80 <= byte < 0xC0):  # a character goes on with these bytes, and begins with others
                return DEAD
            after = self._after(guesses, begun + bytes([byte]), token)
            found = self._known[token, state << 8 | byte] = self._number(after)
        return found

    def close(self, state: int) -> int:
        """Return the state after the end of a piece here; DEAD if none can end."""
        if state not in self._closed:
            guesses, begun = self._states[state]
            ended = frozenset(new for guess in guesses if not begun for new in self._borders.closed(guess))
            self._closed[state] = self._number(State(ended, b""))
        return self._closed[state]

    def _number(self, state: State) -> int:
        if not state.guesses:
            return DEAD
        number = self._numbers.get(state)
        if number is None:
            number = next(self._unused)
            self._states[number] = state
            number = self._numbers.setdefault(state, number)  # another thread may have been first
        return number

    def _after(self, guesses: frozenset[Hashable], data: bytes, token: Token) -> State:
        """Return the state after a character, or the first bytes of one."""
        borders, added = self._borders, token is Token.ADDED

        def after(guess: Hashable, kind: int) -> list[Hashable]:
            return [new for new in borders.after(guess, kind) if borders.is_added(new) == added]

        try:
            character = data.decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                return State(frozenset(), b"")
            kinds = self._spelled_kinds(data) if token is Token.BYTE else borders.kinds(*code_points(data))
            return State(frozenset(guess for guess in guesses if any(after(guess, kind) for kind in kinds)), data)
        if character in self._never or (token is Token.BYTE and character in self._characters):
            return State(frozenset(), b"")
        kind = borders.kind(ord(character))
        return State(frozenset(new for guess in guesses for new in after(guess, kind)), b"")

    def _spelled_kinds(self, begun: bytes) -> set[int]:
        """Return the kinds of the characters that begin with these bytes and aren't in the vocabulary."""
        if begun not in self._spelled:
            first, last = code_points(begun)
            every, found = self._borders.kinds(first, last), set[int]()
            for point in range(first, last + 1):
                if found == every:
                    break
                if not 0xD800 <= point < 0xE000 and chr(point) not in self._characters:
                    found.add(self._borders.kind(point))
            self._spelled[begun] = found
        return self._spelled[begun]


def code_points(begun: bytes) -> tuple[int, int]:
    """Return the first and the last code point, but for surrogates, whose UTF-8 begins with these bytes.

    >>> [f"{code_point:X}" for begun in (b"\\xc3", b"\\xe0", b"\\xf0\\x9f\\x98") for code_point in code_points(begun)]
    ['C0', 'FF', '800', 'FFF', '1F600', '1F63F']
    """
    size = 2 if begun[0] < 0xE0 else 3 if begun[0] < 0xF0 else 4
    number = begun[0] & 0x7F >> size
    for byte in begun[1:]:
        number = number << 6 | byte & 0x3F
    rest = 6 * (size - len(begun))
    return max(number << rest, FIRST_OF_LENGTH[size]), min((number + 1 << rest) - 1, 0x10FFFF)
