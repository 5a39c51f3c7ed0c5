"""The steps of an automaton of bytes as a table, so that many texts can be read at once.

A row is computed when it is first asked for. Bytes that end characters of one kind, or begin characters of the same
kinds, lead to the same state, so they are read once.
"""

from typing import Any

from .._support.numpy_import import NDArray, np
from ..errors import PatternError
from ..prefix.byte_states import DEAD, ByteStates

UNKNOWN = -2
MAX_STATES = 50_000
"""The most states of a table; each takes a kilobyte."""

Numbers = NDArray[np.int32]


class StateTable:
    """The states after each state and byte. The last row is that of DEAD, which is -1.

    Attributes:
        read: what `TokenTrie.states` keeps.
    """

    def __init__(self, states: ByteStates[Any]) -> None:
        self.states = states
        self._rows = np.full((64, 256), UNKNOWN, np.int32)
        self._rows[DEAD] = DEAD
        self.read: dict[tuple[object, int], Numbers] = {}
        self._alike: dict[bytes, tuple[list[int], NDArray[np.intp]]] = {}

    def row(self, state: int) -> Numbers:
        """Return the states after each byte."""
        self._make_room(state)
        if self._rows[state, 0] == UNKNOWN:
            self._fill(state)
        found: Numbers = self._rows[state]
        return found

    def after(self, states: Numbers, data: NDArray[np.uint8]) -> Numbers:
        """Return, for each of the states, the one after its byte; DEAD if there is none, or it was DEAD before.

        `row` was called for the states, or they were returned here.
        """
        at = states * 256 + data
        found = self._rows.ravel().take(at)
        if found.min(initial=0) == UNKNOWN:
            for state in np.unique(states[found == UNKNOWN]).tolist():
                self._fill(state)
            found = self._rows.ravel().take(at)
        return found

    def _fill(self, state: int) -> None:
        """Compute a row."""
        firsts, group_of = self._groups(self.states.first_bytes(state))
        row = np.array([*(self.states.read(state, byte) for byte in firsts), DEAD], np.int32)
        self._make_room(int(row.max()))
        self._rows[state] = row[group_of]

    def _groups(self, first_bytes: bytes) -> tuple[list[int], NDArray[np.intp]]:
        """Return one byte of each group of bytes that are alike, and the number of each byte's group."""
        if first_bytes not in self._alike:
            groups = self.states.alike(first_bytes)
            group_of = np.full(256, len(groups), np.intp)
            for number, group in enumerate(groups):
                group_of[list(group)] = number
            self._alike[first_bytes] = [group[0] for group in groups], group_of
        return self._alike[first_bytes]

    def _make_room(self, state: int) -> None:
        """Make the table large enough for a state."""
        while state >= len(self._rows) - 1:
            if len(self._rows) > MAX_STATES:
                raise PatternError(f"the constraint reached more than {MAX_STATES:,} states: simplify its repetitions")
            self._rows[DEAD] = UNKNOWN
            self._rows = np.concatenate([self._rows, np.full_like(self._rows, UNKNOWN)])
            self._rows[DEAD] = DEAD
