"""A tokenizer's model and pattern, compiled: texts or pieces go in, arrays of ids come out.

An engine can be used by many threads at once: each call takes a cache that no other call has, or makes one, and gives
it back. Chapter: Compiled. Cost: see `encode.py`; making one costs as much as its tables.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..model import BPEModel
from .batch import encode_many
from .building import model_tables
from .cache import Cache
from .chain import Ends, Level, ReadsInVain, cut, encode_cut, without_dropped
from .encode import MOST_ROWS, Work, encode_text
from .jit import PAD
from .scan import ScanTable
from .steps import Plan

Ids = NDArray[np.uint32]
MANY = 100
"""Ids from which looking up ints is quicker than making them."""
MOST_INTS = 1 << 20
"""Ids for which there is an int: some 40 MB."""


class Engine:
    """What encodes.

    >>> engine = Engine.of(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]), None)
    >>> engine.pieces(["low", "lo", "er"]).tolist()
    [257, 256, 101, 114]
    """

    def __init__(self, model: BPEModel, plan: Plan | None) -> None:
        tables = model_tables(model)
        if tables is None:
            raise ValueError("this model has units of another kind, or more tokens or merges, than tables hold")
        self._tables, self._plan = tables, plan
        self.sole = None if plan is None else plan.sole
        self._free: list[tuple[Cache, Work]] = []

    @classmethod
    def of(cls, model: BPEModel, plan: Plan | None) -> "Engine | None":
        """An engine; None for a model that it can't serve."""
        try:
            return cls(model, plan)
        except ValueError:
            return None

    @property
    def cuts(self) -> bool:
        """Whether it cuts texts itself."""
        return self._plan is not None

    def text(self, text: str, first: bool = True) -> Ids | None:
        """The ids of a valid text, which is the beginning of the input if `first`.

        None where it can't cut, and where the patterns would read too far ahead in vain.
        """
        if self._plan is None:
            return None
        if self._plan.prepare is not None:
            text = self._plan.prepare(text, first)
        data = text.encode() + bytes(PAD)
        size, buffer = len(data) - PAD, np.frombuffer(data, np.uint8)
        if self.sole is not None:
            return self._scanned(buffer, size, self.sole)
        return self._refined(
            buffer, size, [level for level in self._plan.levels if not level.needs or level.needs in text]
        )

    def _scanned(self, text: NDArray[np.uint8], size: int, table: ScanTable) -> Ids | None:
        out = np.empty(size + 8, np.uint32)
        cache, work = self._take()
        place = count = 0
        while place < size and count >= 0:
            place, count = encode_text(text, place, size, table, self._tables, cache, work, out, count, MOST_ROWS)
            if any(cache.full(MOST_ROWS)):
                cache = cache.grown(MOST_ROWS)
        self._free.append((cache, work))
        return out[:count].copy() if count >= 0 else None

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
        data = b"".join(parts) + bytes(PAD)
        buffer, out = np.frombuffer(data, np.uint8), np.empty(len(data) + 8, np.uint32)
        ends = np.fromiter(accumulate(map(len, parts)), np.int64, len(parts))
        return out[: self._encode(buffer, 0, ends, out, 0)].copy()

    def _encode(self, text: NDArray[np.uint8], begin: int, ends: Ends, out: Ids, at: int) -> int:
        """Write the ids of pieces to `out` from `at` on; where they end."""
        cache, work = self._take()
        done = 0
        while done < len(ends):
            done, at = encode_cut(text, begin, ends, done, out, at, self._tables, cache, work, MOST_ROWS)
            begin = int(ends[done - 1])
            if any(cache.full(MOST_ROWS)):
                cache = cache.grown(MOST_ROWS)
        self._free.append((cache, work))
        return at

    def listed(self, ids: Ids) -> list[int]:
        """The ids as a list, of ints that are made once: `tolist`, which makes one for each, takes twice as long."""
        found: list[int] = (ids if len(ids) < MANY else self._objects(ids)).tolist()
        return found

    def lists(self, ids: Ids, stops: NDArray[np.int64]) -> list[list[int]]:
        """The ids from each of `stops` to the next, as lists."""
        objects, places = self._objects(ids), stops.tolist()
        return [objects[start:end].tolist() for start, end in zip(places, places[1:])]

    def _objects(self, ids: Ids) -> "Ids | NDArray[np.object_]":
        return self._ints.take(ids) if len(ids) and int(ids.max()) < len(self._ints) else ids

    @cached_property
    def _ints(self) -> "NDArray[np.object_]":
        return np.array(range(min(int(self._tables.ids.max()) + 1, MOST_INTS)), object)

    def warm(self) -> None:
        """Have every kernel compiled, or loaded."""
        cache, work = self._take()
        self._free.append((cache.grown(MOST_ROWS), work))
        self.pieces([b"a", b"b" * 20, b"c" * 40])
        if self._plan is not None:
            self.text("a b")
        if self.sole is not None:
            encode_many(self, [b"a b"], None, lambda number: self.pieces([]))

    def _take(self) -> tuple[Cache, Work]:
        try:
            return self._free.pop()
        except IndexError:
            return Cache.of(), Work.of()
