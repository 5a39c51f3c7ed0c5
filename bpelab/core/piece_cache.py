"""A bounded cache of pieces. Text repeats itself: most pieces of a page have been met on the page before.

Two generations: new pieces go to the young one; when that is full it becomes the old one and the old one is dropped.
A piece found in the old one moves up. So what is used stays, what isn't goes, and a lookup costs one or two
dictionary look-ups. Pieces over 64 characters are not kept, so memory is bounded by the number of entries.
"""

from __future__ import annotations

from collections import namedtuple

LONGEST_KEPT = 64


class CacheStatistics(namedtuple("CacheStatistics", "lookups misses entries capacity")):
    """How a cache has done since it was made or cleared."""

    __slots__ = ()
    lookups: int
    misses: int
    entries: int
    capacity: int


class PieceCache:
    """piece -> ids, at most `capacity` entries.

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
        """Forget everything, the statistics too."""
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
        """Keep the ids of `piece`, which the caller promises not to change."""
        if len(piece) > LONGEST_KEPT or self.capacity < 2:
            return
        if len(self._young) >= self.capacity // 2:
            self._young, self._old = {}, self._young
        self._young[piece] = ids

    def statistics(self) -> CacheStatistics:
        """Look-ups, misses, entries and capacity."""
        return CacheStatistics(self.lookups, self.misses, len(self._young) + len(self._old), self.capacity)
