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
from ..pretokenizers.regex_dfa import DFA
from .batch import encode_many
from .building import model_tables
from .cache import Cache
from .encode import MOST_ROWS, Work, encode_pieces, encode_text
from .jit import PAD
from .scan import CHUNK, ScanTable

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

    def __init__(self, model: BPEModel, dfa: DFA | None) -> None:
        tables = model_tables(model)
        if tables is None:
            raise ValueError("this model's units aren't bytes, or it has more tokens or merges than tables hold")
        self._tables = tables
        self._scan = None if dfa is None else ScanTable.of(dfa)
        self._free: list[tuple[Cache, Work]] = []

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

    def text(self, text: str) -> Ids | None:
        """The ids of a valid text, cut by the pattern; None where that would read too far ahead in vain."""
        data = text.encode() + bytes(PAD)
        size, buffer = len(data) - PAD, np.frombuffer(data, np.uint8)
        out = np.empty(size + 8, np.uint32)
        cache, work = self._take()
        place = count = 0
        while place < size and count >= 0:
            place, count = encode_text(
                buffer, place, size, self._scan, self._tables, cache, work, out, count, MOST_ROWS
            )
            if any(cache.full(MOST_ROWS)):
                cache = cache.grown(MOST_ROWS)
        self._free.append((cache, work))
        return out[:count].copy() if count >= 0 else None

    def pieces(self, pieces: Sequence[str | bytes]) -> Ids:
        """The ids of pieces that were cut elsewhere."""
        parts = [piece.encode() if isinstance(piece, str) else piece for piece in pieces if piece]
        data = b"".join(parts) + bytes(PAD)
        buffer, out = np.frombuffer(data, np.uint8), np.empty(len(data) + 8, np.uint32)
        ends = np.fromiter(accumulate(map(len, parts)), np.int64, len(parts))
        cache, work = self._take()
        begin = count = 0
        for first in range(0, len(ends), CHUNK):
            some = ends[first : first + CHUNK]
            count = encode_pieces(buffer, begin, some, len(some), out, count, self._tables, cache, work)
            begin = int(some[-1])
            if any(cache.full(MOST_ROWS)):
                cache = cache.grown(MOST_ROWS)
        self._free.append((cache, work))
        return out[:count].copy()

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
        if self._scan is not None:
            self.text("a b")
            encode_many(self, [b"a b"], None, lambda number: self.pieces([]))

    def _take(self) -> tuple[Cache, Work]:
        try:
            return self._free.pop()
        except IndexError:
            return Cache.of(), Work.of()
