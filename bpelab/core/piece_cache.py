"""A bounded cache of pieces. Text repeats itself: most pieces on a page occurred on the page before.

There are two generations. New pieces go into the young one; when it is full, it becomes the old one, and the previous
old one is dropped. A piece looked up in the old one moves to the young one. So pieces in use stay, others go, and a
lookup costs one or two dictionary lookups. Pieces over 64 characters aren't cached, so the number of entries bounds
memory.
"""

from __future__ import annotations

from collections import namedtuple

LONGEST_KEPT = 64


class CacheStatistics(namedtuple("CacheStatistics", "lookups misses entries capacity")):
    """A cache's lookups and misses since it was created or cleared, its entries, and its capacity."""

    __slots__ = ()
    lookups: int
    misses: int
    entries: int
    capacity: int


class PieceCache:
    """A cache from piece to ids, with at most `capacity` entries.

    >>> cache = PieceCache(4)
    >>> for n in range(100):
    ...     cache.put(str(n), [n])
    >>> cache.get("99"), cache.get("0"), cache.statistics().entries <= 4
    ([99], None, True)
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.clear()

    def clear(self) -> None:
        """Remove all entries and reset the statistics."""
        self._young: dict[str, list[int]] = {}
        self._old: dict[str, list[int]] = {}
        self.lookups = self.misses = 0

    def get(self, piece: str) -> list[int] | None:
        """Return the ids of `piece`, or None."""
        ids = self._young.get(piece)
        if ids is None and (ids := self._old.get(piece)) is not None:
            self.put(piece, ids)
        return ids

    def put(self, piece: str, ids: list[int]) -> None:
        """Store the ids of `piece`. The caller must not change the list afterwards."""
        if len(piece) > LONGEST_KEPT or self.capacity < 2:
            return
        if len(self._young) >= self.capacity // 2:
            self._young, self._old = {}, self._young
        self._young[piece] = ids

    def statistics(self) -> CacheStatistics:
        """Return the number of lookups, misses and entries, and the capacity."""
        return CacheStatistics(self.lookups, self.misses, len(self._young) + len(self._old), self.capacity)
