"""What a handle has: some slots, then the arrays that encoding reads, a cache that it writes to, and room for its work.

A handle is a table of numbers (`handle.py`). The parts of the encoder are C functions that are given its address, and
find each other's there: so each is compiled once, where kernels that call each other are compiled again in each of
them, and a rare part costs a common one nothing. All of them give one more than where the ids were left in the output,
and 0 where something failed.

Chapter: Compiled.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from .cache import Cache
from .handle import view_of
from .scan import CHUNK, ScanTable
from .tables import ModelTables

BUSY, LEFT, ENCODE, PIECES, MISSED, MERGE, BUFFER, OUT, INTS, KNOWN, PARTS = range(11)
"""Slots: whether a handle is in use; where a text was left; addresses of functions, then of arrays; for how many ids
ints are kept; the parts."""
INT64, UINT8, UINT32 = types.int64, types.uint8, types.uint32
SCANNED = 40
"""Bytes, or other units, of the longest piece that is scanned for its lowest merge."""


class Work(NamedTuple):
    """Room for the pieces of a chunk: their ends, keys and rows; and for the tokens and merges of one piece."""

    ends: NDArray[np.int64]
    keys: NDArray[np.uint64]
    homes: NDArray[np.int64]
    tokens: NDArray[np.uint32]
    ranks: NDArray[np.uint32]

    @staticmethod
    def of() -> "Work":
        """New room, which belongs to one thread."""
        size = CHUNK + 8
        return Work(
            np.empty(size, np.int64), np.empty((size, 2), np.uint64), np.empty(size, np.int64),
            np.empty(SCANNED, np.uint32), np.empty(-(-SCANNED // 16) * 16, np.uint32),
        )  # fmt: skip


class Parts(NamedTuple):
    """What a handle has behind its slots."""

    scan: ScanTable
    tables: ModelTables
    cache: Cache
    work: Work


KINDS: list[Any] = []
"""numba's type of Parts, once there are some: compiling needs it, loading does not."""
parts_at = view_of(lambda: KINDS[0])
