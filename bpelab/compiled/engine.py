"""A tokenizer's model and pattern, compiled: texts or pieces go in, ids come out, as a list or as an array.

An engine can be used by many threads at once: each call takes a handle with a cache that no other call has, or makes
one, and gives it back; short texts share one (`calls.py`). Chapter: Compiled. Cost: see `encode.py`; making one costs
as much as its tables.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ..model import BPEModel
from . import calls
from .batch import encode_many
from .cache import Cache
from .calls import MOST
from .chain import Ends, Level, ReadsInVain, cut, without_dropped
from .encode import MOST_ROWS, encode_at, missed_at, pieces_at
from .handle import kind, numbers
from .jit import PAD, foreign, writable
from .merging import merge_at
from .parts import BUSY, KINDS, LEFT, PARTS, Parts, Work
from .scan import CHUNK, ScanTable
from .steps import Plan
from .table_files import kept
from .tables import ModelTables

Ids = NDArray[np.uint32]
COPIED = 1 << 16
"""Bytes of a text that is copied as a whole, so that it is encoded in one call."""
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
        functions = [function() for function in (encode_at, pieces_at, missed_at, merge_at)]
        arrays = [array.ctypes.data for array in (*self._room, ints)]
        self.slots = np.array([0, 0, *functions, *arrays, len(ints), *numbers(self.parts)], np.int64)
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

    def __init__(self, model: BPEModel, plan: Plan | None) -> None:
        tables = kept(model, _built)
        if tables is None:
            raise ValueError("this model has units of another kind, or more tokens or merges, than tables hold")
        self._tables, self._plan = tables, plan
        self.sole = None if plan is None else plan.sole
        self._ints = np.empty(min(int(tables.ids.max()) + 1, MOST_INTS), object)
        self._free: list[Handle] = []
        self._shared = None if self.sole is None else Handle(self.sole, tables, self._ints, True)

    @classmethod
    def of(cls, model: BPEModel, plan: Plan | None) -> "Engine | None":
        """An engine; None for a model that it can't serve."""
        try:
            return cls(model, plan)
        except ValueError:
            return None

    def brief(self) -> Callable[[str], list[int] | None] | None:
        """What gives the ids of a str, and None for one that it leaves to others; None where the engine can't cut."""
        if self._shared is None:
            return None
        brief = partial(calls.encode_brief(), self._shared.address)
        vars(brief)["engine"] = self  # whose arrays are at the address
        return brief

    def text(self, text: str, first: bool = True) -> Ids | None:
        """The ids of a valid text, which is the beginning of the input if `first`.

        None where it can't cut, and where the patterns would read too far ahead in vain.
        """
        if self._plan is None:
            return None
        if self._plan.prepare is not None:
            text = self._plan.prepare(text, first)
        if self.sole is not None:
            return self._scanned(text)
        data = text.encode()
        return self._refined(
            writable(data),
            len(data),
            [level for level in self._plan.levels if not level.needs or level.needs in text],
        )

    def _scanned(self, text: str) -> Ids | None:
        data = text.encode()
        out, handle = np.empty(len(data) + 8, np.uint32), self._take()
        # Up to the limit kernels may read on, so that of a long text only the rest is copied.
        limit = len(data) - PAD if len(data) > COPIED else 0
        while limit and data[limit] & 0xC0 == 0x80:
            limit -= 1
        place, count = self._encode_from(handle, data, limit, False, out, 0)
        if count >= 0:
            rest = data[place:]
            _, count = self._encode_from(handle, rest + bytes(PAD), len(rest), True, out, count)
        self._free.append(handle)
        if count < 0:
            return None
        out.resize(count, refcheck=False)
        return out

    def _encode_from(self, handle: Handle, data: bytes, end: int, final: bool, out: Ids, count: int) -> tuple[int, int]:
        """Encode up to `end`, as far as what follows can't change; (where the text, where the ids were left)."""
        encode, source = foreign(encode_at, 7), np.frombuffer(data, np.uint8).ctypes.data if data else 0
        target, place, begun = out.ctypes.data, 0, -1
        while begun < place < end and count >= 0:
            begun = place
            count = encode(handle.address, source, place, end, final, target, count) - 1
            place = int(handle.slots[LEFT])
            if place < 0:
                raise MemoryError("there is no memory left to encode the text")
            handle.grow()
        return place, count

    def _refined(self, text: NDArray[np.uint8], size: int, levels: Sequence[Level]) -> Ids | None:
        out, count = np.empty(size + 8, np.uint32), 0
        whole = np.array([size] if size else [], np.int64)
        try:
            for begin, ends in cut(text, 0, whole, levels):
                count = self._encode(*without_dropped(text, begin, ends), out, count)
        except ReadsInVain:
            return None
        return out[:count].copy()

    def pieces(self, pieces: Sequence[str | bytes]) -> Ids:
        """The ids of pieces that were cut elsewhere."""
        parts = [piece.encode() if isinstance(piece, str) else piece for piece in pieces if piece]
        buffer = writable(*parts)
        out = np.empty(len(buffer) + 8, np.uint32)
        ends = np.fromiter(accumulate(map(len, parts)), np.int64, len(parts))
        return out[: self._encode(buffer, 0, ends, out, 0)].copy()

    def _encode(self, text: NDArray[np.uint8], begin: int, ends: Ends, out: Ids, at: int) -> int:
        """Write the ids of pieces to `out` from `at` on; where they end."""
        handle = self._take()
        encode, source, target = foreign(pieces_at, 7), text.ctypes.data, out.ctypes.data
        for first in range(0, len(ends), CHUNK):
            some = ends[first : first + CHUNK]
            at = encode(handle.address, source, begin, some.ctypes.data, len(some), target, at) - 1
            if at < 0:
                raise MemoryError("there is no memory left to encode the pieces")
            begin = int(some[-1])
            handle.grow()
        self._free.append(handle)
        return at

    def listed(self, ids: Ids) -> list[int]:
        """The ids as a list, of ints that are made once: `tolist` would take three times as long."""
        made: list[int] = calls.list_at()(ids.ctypes.data, len(ids), self._ints.ctypes.data, len(self._ints))
        return made

    def lists(self, ids: Ids, stops: NDArray[np.int64]) -> list[list[int]]:
        """The ids from each of `stops` to the next, as lists."""
        make, address, ints, known = calls.list_at(), ids.ctypes.data, self._ints.ctypes.data, len(self._ints)
        places = stops.tolist()
        return [make(address + 4 * start, end - start, ints, known) for start, end in zip(places, places[1:])]

    def warm(self) -> None:
        """Have every kernel compiled, or loaded."""
        handle = self._take()
        handle.parts.cache.grown(MOST_ROWS)
        self._free.append(handle)
        self.listed(self.pieces([b"a", b"b" * 20, b"c" * 40]))
        if self._plan is not None:
            self.text("a b")
        if (brief := self.brief()) is not None:
            brief("a b")
            encode_many(self, [b"a b"], None, lambda number: self.pieces([]))

    def _take(self) -> Handle:
        if self._shared is not None and not self._shared.slots[BUSY]:
            self._shared.grow()
        try:
            return self._free.pop()
        except IndexError:
            return Handle(self.sole, self._tables, self._ints, False)
