"""A tokenizer's model and pattern, compiled: texts or pieces go in, ids come out, as a list or as an array.

An engine can be used by many threads at once: each call takes a handle with a cache that no other call has, or makes
one, and gives it back; short texts share one (`calls.py`). Chapter: Compiled. Cost: see `encode.py`; making one costs
as much as its tables.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import BPEModel
from ..pretokenizers.regex_dfa import DFA
from . import calls
from .cache import Cache
from .calls import BUSY, KINDS, LEFT, MOST, PARTS, Parts
from .encode import MOST_ROWS, Work
from .handle import kind, numbers
from .jit import PAD
from .scan import CHUNK, ScanTable
from .table_files import kept
from .tables import ModelTables

Ids = NDArray[np.uint32]
MOST_INTS = 1 << 21
"""Ids for which the int is kept once it was made."""


def _built(model: BPEModel) -> ModelTables | None:
    from .building import model_tables  # kernels that are not even looked at where tables are kept

    return model_tables(model)


class Handle:
    """The arrays of an engine with a cache of its own, and their addresses at `address`."""

    def __init__(self, scan: ScanTable | None, tables: ModelTables, ints: "NDArray[np.object_]", brief: bool) -> None:
        size = MOST if brief else 0
        self._room = np.empty(4 * size + PAD, np.uint8), np.empty(4 * size + 8, np.uint32)
        self._ints, self._growing = ints, Lock()
        self.parts = Parts(scan or ScanTable.empty(), tables, Cache.of(), Work.of())
        if not KINDS:
            KINDS.append(kind(self.parts))
        slots = [0, 0, calls.encode_at() if brief else 0, *(room.ctypes.data for room in self._room)]
        self.slots = np.array([*slots, ints.ctypes.data, len(ints), *numbers(self.parts)], np.int64)
        self.address = self.slots.ctypes.data

    def grow(self) -> None:
        """Make the tables of the cache that are half full larger."""
        if not any(self.parts.cache.full(MOST_ROWS)) or not self._growing.acquire(blocking=False):
            return
        try:
            parts = self.parts._replace(cache=self.parts.cache.grown(MOST_ROWS))
            before, self.parts = self.parts, parts
            self.slots[PARTS:] = [*numbers(parts)]
            del before  # whose arrays had to be there until now
        finally:
            self._growing.release()


class Engine:
    """What encodes.

    >>> engine = Engine.of(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]), None)
    >>> engine.pieces(["low", "lo", "er"]).tolist()
    [257, 256, 101, 114]
    """

    def __init__(self, model: BPEModel, dfa: DFA | None) -> None:
        tables = kept(model, _built)
        if tables is None:
            raise ValueError("this model's units aren't bytes, or it has more tokens or merges than tables hold")
        self._tables = tables
        self._scan = None if dfa is None else ScanTable.of(dfa)
        self._ints = np.empty(min(int(tables.ids.max()) + 1, MOST_INTS), object)
        self._free: list[Handle] = []
        self._shared = Handle(self._scan, tables, self._ints, True) if self.scans else None

    @classmethod
    def of(cls, model: BPEModel, dfa: DFA | None) -> "Engine | None":
        """An engine; None for a model that it can't serve."""
        try:
            return cls(model, dfa)
        except ValueError:
            return None

    @property
    def scans(self) -> bool:
        """Whether it cuts texts itself."""
        return self._scan is not None

    def brief(self) -> Callable[[str], list[int] | None] | None:
        """What gives the ids of a str, and None for one that it leaves to others; None where the engine can't cut."""
        if self._shared is None:
            return None
        brief = partial(calls.encode_brief(), self._shared.address)
        vars(brief)["engine"] = self  # whose arrays are at the address
        return brief

    def text(self, text: str) -> Ids | None:
        """The ids of a valid text, cut by the pattern; None where that would read too far ahead in vain."""
        data = text.encode() + bytes(PAD)
        size, buffer = len(data) - PAD, np.frombuffer(data, np.uint8)
        out = np.empty(size + 8, np.uint32)
        encode, source, target = _function(calls.encode_at, 6), buffer.ctypes.data, out.ctypes.data
        handle, place, count = self._take(), 0, 0
        while place < size and count >= 0:
            count = encode(handle.address, source, place, size, target, count) - 1
            place = int(handle.slots[LEFT])
            if place < 0:
                raise MemoryError("there is no memory left to encode the text")
            handle.grow()
        self._free.append(handle)
        return out[:count].copy() if count >= 0 else None

    def pieces(self, pieces: Sequence[str | bytes]) -> Ids:
        """The ids of pieces that were cut elsewhere."""
        parts = [piece.encode() if isinstance(piece, str) else piece for piece in pieces if piece]
        data = b"".join(parts) + bytes(PAD)
        buffer, out = np.frombuffer(data, np.uint8), np.empty(len(data) + 8, np.uint32)
        ends = np.fromiter(accumulate(map(len, parts)), np.int64, len(parts))
        encode, source, target = _function(calls.pieces_at, 7), buffer.ctypes.data, out.ctypes.data
        handle, begin, count = self._take(), 0, 0
        for first in range(0, len(ends), CHUNK):
            some = ends[first : first + CHUNK]
            count = encode(handle.address, source, begin, some.ctypes.data, len(some), target, count) - 1
            if count < 0:
                raise MemoryError("there is no memory left to encode the pieces")
            begin = int(some[-1])
            handle.grow()
        self._free.append(handle)
        return out[:count].copy()

    def listed(self, ids: Ids) -> list[int]:
        """The ids as a list, of ints that are made once: `tolist` would take three times as long."""
        made: list[int] = calls.list_at()(ids.ctypes.data, len(ids), self._ints.ctypes.data, len(self._ints))
        return made

    def warm(self) -> None:
        """Have every kernel compiled, or loaded."""
        handle = self._take()
        handle.parts.cache.grown(MOST_ROWS)
        self._free.append(handle)
        self.listed(self.pieces([b"a", b"b" * 20, b"c" * 40]))
        if (brief := self.brief()) is not None:
            brief("a b")

    def _take(self) -> Handle:
        if self._shared is not None and not self._shared.slots[BUSY]:
            self._shared.grow()
        try:
            return self._free.pop()
        except IndexError:
            return Handle(self._scan, self._tables, self._ints, False)


@lru_cache(None)
def _function(function: Any, arguments: int) -> Callable[..., int]:
    """A C function for Python, called without the interpreter's lock."""
    called: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arguments)(function())
    return called
