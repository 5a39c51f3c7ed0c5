"""The steps of an automaton of bytes as a table, so that many texts can be read at once."""

from typing import Any

from .._support.numpy_import import NDArray, np
from ..errors import PatternError
from ..prefix.byte_states import ByteStates

UNKNOWN = -2
MAX_STATES = 50_000
"""The most states of a table; each takes a kilobyte."""

Numbers = NDArray[np.int32]


class StateTable:
    """The states after each state and byte, computed when they are first asked for."""

    def __init__(self, states: ByteStates[Any]) -> None:
        self.states = states
        self._rows = np.full((64, 256), UNKNOWN, np.int32)

    def after(self, states: Numbers, data: NDArray[np.uint8]) -> Numbers:
        """Return, for each of the states, the one after its byte; DEAD if there is none."""
        found = self._rows[states, data]
        unknown = np.flatnonzero(found == UNKNOWN)
        if len(unknown):
            for pair in set((states[unknown].astype(np.int64) << 8 | data[unknown]).tolist()):
                self._set(pair >> 8, pair & 255)
            found = self._rows[states, data]
        return found

    def _set(self, state: int, byte: int) -> None:
        after = self.states.read(state, byte)
        while after >= len(self._rows):
            if len(self._rows) > MAX_STATES:
                raise PatternError(f"the constraint reached more than {MAX_STATES:,} states: simplify its repetitions")
            self._rows = np.concatenate([self._rows, np.full_like(self._rows, UNKNOWN)])
        self._rows[state, byte] = after
