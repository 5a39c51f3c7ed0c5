"""Words and their counts as arrays, and what counts them: texts go in, distinct pre-tokens come out.

Chapter: Incremental training. Cost: see `counting.py`; what only Python can cut costs what it costs there.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import PatternError, TrainingError
from ..pretokenizers.dfa import NotRegular, dfa_for
from ..pretokenizers.split import Split
from ..textio import utf8_counts
from .counting import BYTES, ROWS, Tally, Work, count_pieces, count_texts, list_pieces
from .jit import PAD, writable
from .scan import CHUNK, ScanTable

CHUNKS = 2_000
"""Of a call of a kernel, which can't be interrupted: some 20 ms."""
BEYOND_64_BITS = "the words occur so often that their counts don't fit into 64 bits"


class Words(NamedTuple):
    """Words end to end, with PAD bytes behind the last; where each ends; how often it occurs."""

    content: NDArray[np.uint8]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]

    @staticmethod
    def of(words: Mapping[bytes, int]) -> "Words":
        """The words of a mapping, without the empty one.

        Raises TrainingError for a count beyond 64 bits.
        """
        kept = [word for word in words if word]
        content = writable(*kept)
        ends = np.fromiter(accumulate(map(len, kept)), np.int64, len(kept))
        try:
            return Words(content, ends, np.array([words[word] for word in kept], np.int64))
        except OverflowError as error:
            raise TrainingError(BEYOND_64_BITS) from error

    def as_dict(self) -> dict[bytes, int]:
        """The words as other trainers take them."""
        content, starts = self.content.tobytes(), [0, *self.ends.tolist()]
        return {content[a:b]: count for a, b, count in zip(starts, starts[1:], self.counts.tolist())}


class WordCounter:
    """Counts the pre-tokens of texts. It belongs to one thread.

    >>> counter = WordCounter(Split("gpt2"))
    >>> counter.feed(["low lower", "low"])
    >>> sorted(counter.words().as_dict().items())
    [(b' lower', 1), (b'low', 2)]
    """

    def __init__(self, split: Split | None) -> None:
        self._split, self._table = split, scan_table(split)
        self._tally, self._work = Tally.of(), Work.of()
        self.stopped = False
        """Set it from another thread to have `feed` return as soon as it can."""

    @property
    def scans(self) -> bool:
        """Whether a kernel cuts the texts."""
        return self._table is not None

    @property
    def nbytes(self) -> int:
        """Of the memory for what was counted so far."""
        return int(self._tally.rows.nbytes + self._tally.arena.nbytes)

    def feed(self, texts: Sequence[str]) -> None:
        """Count what `texts` are cut into, each by itself."""
        others: Counter[str] = Counter()
        parts: list[bytes] = []
        for text in texts:
            if self._table is not None and (data := _encoded(text)):
                parts.append(data)
            else:
                others.update(self._cut(text))
        if parts:
            others.update(self._scan(parts))
        self.add(Words.of(utf8_counts(others)))

    def _scan(self, parts: list[bytes]) -> Iterator[str]:
        """Count what the scanner cuts; the pieces of what it has to leave to Python."""
        text, stops = writable(*parts), np.fromiter(accumulate(map(len, parts)), np.int64, len(parts))
        begin, number = 0, 0
        while number < len(stops) and not self.stopped:
            begin, number, size = count_texts(text, begin, stops, number, self._table, self._tally, self._work, CHUNKS)
            if size < 0:
                yield from self._cut(text[begin : stops[number]].tobytes().decode())
                begin, size = int(stops[number]), 0
            self._tally = self._tally.with_room(len(self._work.ends), size)

    def add(self, words: Words) -> None:
        """Count words as often as they occur."""
        begin = 0
        for first in range(0, len(words.ends), CHUNK):
            ends, counts = words.ends[first : first + CHUNK], words.counts[first : first + CHUNK]
            self._tally = self._tally.with_room(len(ends), int(ends[-1]) - begin)
            count_pieces(words.content, begin, ends, counts, len(ends), self._tally, self._work)
            begin = int(ends[-1])

    def words(self) -> Words:
        """What was counted, in no order that means anything."""
        used = self._tally.used
        content = np.zeros(int(used[BYTES]) + PAD, np.uint8)
        ends, counts = np.empty(used[ROWS], np.int64), np.empty(used[ROWS], np.int64)
        list_pieces(self._tally, content, ends, counts)
        return Words(content, ends, counts)

    def _cut(self, text: str) -> list[str]:
        if self._split is not None:
            return self._split.split(text)
        return [text] if text else []


def _encoded(text: str) -> bytes:
    """The text in UTF-8; nothing where a lone surrogate is in it."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return b""


def scan_table(split: Split | None) -> ScanTable | None:
    """The scanner's table for a split; None where only Python can cut."""
    if split is None or split.behavior != "Isolated" or split.invert:
        return None
    try:
        return ScanTable.of(dfa_for(split.pattern, split.dialect))
    except (NotRegular, PatternError):
        return None
