"""A text read byte by byte: one state for all guesses about its piece borders and for the character that has begun.

This is the subset construction, made as far as it's needed: the guesses that are possible after the same bytes are one
state (`piece_borders.py`). Inside a character they are those after which some character with these first bytes fits.

Cost: a look-up for each byte; a state is computed when it is first reached.
"""

from itertools import count
from typing import NamedTuple

from .piece_borders import Guess, PieceBorders

DEAD = -1
FIRST_OF_LENGTH = {2: 0x80, 3: 0x800, 4: 0x10000}
"""The first code point that UTF-8 writes with this many bytes."""


class State(NamedTuple):
    """The possible guesses about the text so far, and the bytes of an incomplete character at its end."""

    guesses: frozenset[Guess]
    begun: bytes


class ByteStates:
    """The states of texts, numbered as they are reached. `start` is that of the empty text.

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

    def __init__(self, borders: PieceBorders) -> None:
        self._borders = borders
        self._numbers: dict[State, int] = {}
        self._states: dict[int, State] = {}
        self._unused = count()
        self._known: dict[int, int] = {}
        self._closed: dict[int, int] = {}
        self.start = self._number(State(frozenset([borders.start]), b""))

    def read(self, state: int, byte: int) -> int:
        """Return the state after one more byte of the same piece, or of one that begins here; DEAD if there is none."""
        found = self._known.get(state << 8 | byte)
        if found is None:
            guesses, begun = self._states[state]
            if bool(begun) != (0x80 <= byte < 0xC0):  # a character goes on with these bytes, and begins with others
                return DEAD
            found = self._known[state << 8 | byte] = self._number(self._after(guesses, begun + bytes([byte])))
        return found

    def close(self, state: int) -> int:
        """Return the state after the end of a piece here; DEAD if none can end."""
        if state not in self._closed:
            guesses, begun = self._states[state]
            ended = (guess._replace(border=True) for guess in guesses if not begun)
            self._closed[state] = self._number(State(frozenset(filter(self._borders.is_possible, ended)), b""))
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

    def _after(self, guesses: frozenset[Guess], data: bytes) -> State:
        """Return the state after a character, or the first bytes of one."""
        after = self._borders.after
        try:
            code_point = ord(data.decode())
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                return State(frozenset(), b"")
            kinds = self._borders.kinds(*code_points(data))
            return State(frozenset(guess for guess in guesses if any(after(guess, kind) for kind in kinds)), data)
        kind = self._borders.kind(code_point)
        return State(frozenset(new for guess in guesses for new in after(guess, kind)), b"")


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
