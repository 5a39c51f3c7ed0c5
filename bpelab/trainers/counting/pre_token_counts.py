"""Pre-token counts: distinct pre-tokens and how often each occurs, in three buffers.

The counter in C returns such tables and the learner in C takes them. Machines of a cluster send them to each other,
partitioned by hash. The bucket of a pre-token depends only on its bytes, so two tables can be summed bucket by bucket,
and no process needs more than one bucket of each.

Chapters: Incremental training; More than one machine. Cost: linear; for each pre-token, its own bytes plus 16.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import TrainingError

if TYPE_CHECKING:
    from ..._support.numpy_import import NDArray, np

BEYOND_64_BITS = "the pre-tokens occur so often that their counts don't fit into 64 bits"
_MULTIPLIER = 0x9E3779B97F4A7C15


class PreTokenCounts(NamedTuple):
    """Distinct pre-tokens, concatenated, with the end offset and the count of each, both int64."""

    content: bytes | bytearray | memoryview
    ends: array[int] | memoryview
    counts: array[int] | memoryview

    @staticmethod
    def of(counts: Mapping[bytes, int]) -> PreTokenCounts:
        """Build a table from a mapping, without the empty pre-token.

        >>> PreTokenCounts.of({b"low": 5, b"": 3, b"er": 2})
        PreTokenCounts(content=b'lower', ends=array('q', [3, 5]), counts=array('q', [5, 2]))

        Raises TrainingError for a count beyond 64 bits.
        """
        pre_tokens = [pre_token for pre_token in counts if pre_token]
        try:
            numbers = array("q", [counts[pre_token] for pre_token in pre_tokens])
        except OverflowError as error:
            raise TrainingError(BEYOND_64_BITS) from error
        return PreTokenCounts(b"".join(pre_tokens), array("q", accumulate(map(len, pre_tokens))), numbers)

    @staticmethod
    def from_buffers(content: Any, ends: Any, counts: Any) -> PreTokenCounts:
        """Build a table on three byte buffers, without a copy."""
        ends, counts = (memoryview(buffer).cast("B").cast("q") for buffer in (ends, counts))
        return PreTokenCounts(content, ends, counts)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Pickle the buffers, without a copy under protocol 5."""
        return PreTokenCounts.from_buffers, tuple(map(PickleBuffer if protocol >= 5 else bytes, self))

    def as_dict(self) -> dict[bytes, int]:
        """Return the table as a dict, which the trainers in Python take.

        >>> PreTokenCounts.of({b"low": 5, b"er": 2}).as_dict()
        {b'low': 5, b'er': 2}
        """
        content, starts = bytes(self.content), [0, *self.ends]
        return {content[a:b]: count for a, b, count in zip(starts, starts[1:], self.counts)}

    @property
    def nbytes(self) -> int:
        """The size of the buffers, in bytes."""
        return sum(memoryview(buffer).nbytes for buffer in self)

    def buckets(self, number: int) -> list[PreTokenCounts]:
        """Partition the table into `number` tables; the bytes of a pre-token determine its table.

        >>> [table.as_dict() for table in PreTokenCounts.of({b"low": 5, b"er": 2, b"a": 1}).buckets(2)]
        [{b'er': 2}, {b'low': 5, b'a': 1}]
        """
        if not len(self.ends):
            return [self] * number
        from ..._support.numpy_import import np

        content, ends, counts = (np.frombuffer(*of) for of in zip(self, (np.uint8, np.int64, np.int64)))
        lengths = np.diff(ends, prepend=0)
        sums = np.add.reduceat(_byte_hashes()[content], ends - lengths)
        chosen = ((sums * np.uint64(_MULTIPLIER)) >> np.uint64(32)) % np.uint64(number)
        tables = []
        for bucket in range(number):
            rows = np.flatnonzero(chosen == bucket)
            new_ends = np.cumsum(lengths[rows])
            offsets = np.repeat(ends[rows] - new_ends, lengths[rows]) + np.arange(lengths[rows].sum())
            tables.append(PreTokenCounts.from_buffers(content[offsets].data, new_ends, counts[rows]))
        return tables


@lru_cache(1)
def _byte_hashes() -> NDArray[np.uint64]:
    from ..._support.numpy_import import np

    return np.array([zlib.crc32(bytes([byte])) for byte in range(256)], np.uint64)


def concat_counts(tables: Iterable[PreTokenCounts]) -> PreTokenCounts:
    """Concatenate tables that share no pre-token.

    >>> concat_counts([PreTokenCounts.of({b"low": 5}), PreTokenCounts.of({b"er": 2})])
    PreTokenCounts(content=b'lower', ends=array('q', [3, 5]), counts=array('q', [5, 2]))
    """
    content, ends, counts = bytearray(), array("q"), array("q")
    for table in tables:
        ends.extend(end + len(content) for end in table.ends)
        content += table.content
        counts.extend(table.counts)
    return PreTokenCounts(bytes(content), ends, counts)
