"""Pre-token counts: distinct pre-tokens and their counts in three buffers, which the counter in C returns.

The learner in C takes them. Chapter: Incremental training. Cost: linear; 16 bytes and its own for each pre-token.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

from ...errors import TrainingError

BEYOND_64_BITS = "the words occur so often that their counts don't fit into 64 bits"


class Words(NamedTuple):
    """Words, concatenated; the end offset of each and how often it occurs, both int64."""

    content: bytes | memoryview
    ends: array[int] | memoryview
    counts: array[int] | memoryview

    @staticmethod
    def of(words: Mapping[bytes, int]) -> Words:
        """Return the words of a mapping, without the empty one.

        >>> Words.of({b"low": 5, b"": 3, b"er": 2})
        Words(content=b'lower', ends=array('q', [3, 5]), counts=array('q', [5, 2]))

        Raises TrainingError for a count beyond 64 bits.
        """
        kept = [word for word in words if word]
        try:
            counts = array("q", [words[word] for word in kept])
        except OverflowError as error:
            raise TrainingError(BEYOND_64_BITS) from error
        return Words(b"".join(kept), array("q", accumulate(map(len, kept))), counts)

    @staticmethod
    def from_buffers(content: bytes, ends: bytearray, counts: bytearray) -> Words:
        """Return the words of buffers, without a copy."""
        return Words(content, memoryview(ends).cast("q"), memoryview(counts).cast("q"))

    def as_dict(self) -> dict[bytes, int]:
        """Return the words as a mapping, as other trainers take them.

        >>> Words.of({b"low": 5, b"er": 2}).as_dict()
        {b'low': 5, b'er': 2}
        """
        content, starts = bytes(self.content), [0, *self.ends]
        return {content[a:b]: count for a, b, count in zip(starts, starts[1:], self.counts)}


def concat_words(tables: Iterable[Words]) -> Words:
    """Concatenate tables that share no word.

    >>> concat_words([Words.of({b"low": 5}), Words.of({b"er": 2})])
    Words(content=b'lower', ends=array('q', [3, 5]), counts=array('q', [5, 2]))
    """
    content, ends, counts = bytearray(), array("q"), array("q")
    for table in tables:
        ends.extend(end + len(content) for end in table.ends)
        content += table.content
        counts.extend(table.counts)
    return Words(bytes(content), ends, counts)
