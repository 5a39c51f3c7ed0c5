"""Spill runs: count tables kept by bucket, and written to files when they exceed a limit of memory.

Then the tables in memory are summed bucket by bucket and written, a *run* for each bucket; in the end the runs of a
bucket are summed. So memory holds the limit and the sum of one bucket. Source: the runs of external sorting.

Chapter: More than one machine. Cost: each run is written once and read once.
"""

from __future__ import annotations

import shutil
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

from ...errors import TrainingError
from .native import WordCounter
from .pre_token_counts import Words

BUCKETS = 16


class Runs:
    """Tables in `buckets` buckets, of which about `limit` bytes are in memory; files go to a new folder in `folder`.

    Attributes:
        spilled: bytes written to files.
    """

    def __init__(self, buckets: int, limit: int, folder: str | None = None) -> None:
        self._buffered: list[list[Any]] = [[] for _ in range(buckets)]
        self._limit, self._size, self._parent = limit, 0, folder
        self._folder: Path | None = None
        self.spilled = 0

    def total(self, tables: Iterable[Any]) -> Any:
        """Return the sum of tables."""
        from .count_table import sum_counts

        return sum_counts(tables)

    def table(self, words: Words) -> Any:
        """Return a table that was read from a file."""
        from .count_table import Counts

        return Counts.from_words(words)

    def add(self, bucket: int, table: Any) -> None:
        """Keep a table. Raises TrainingError where it can't be written."""
        self._buffered[bucket].append(table)
        self._size += sum(memoryview(buffer).nbytes for buffer in table)
        if self._size > self._limit:
            try:
                self._write()
            except OSError as error:
                raise TrainingError(
                    f"counts can't be written to {self._folder or self._parent or tempfile.gettempdir()}: "
                    f"{error.strerror or error}; make room there, or name another folder in TMPDIR"
                ) from error

    def _write(self) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="bpelab-counts-", dir=self._parent))
        for bucket, tables in enumerate(self._buffered):
            if tables:
                buffers = [memoryview(buffer).cast("B") for buffer in self.total(tables)]
                sizes = array("q", [buffer.nbytes for buffer in buffers])
                with (self._folder / str(bucket)).open("ab") as file:
                    sizes.tofile(file)
                    for buffer in buffers:
                        file.write(buffer)
                self.spilled += sum(sizes)
                tables.clear()
        self._size = 0

    def sum(self, bucket: int) -> Any:
        """Return the sum of all tables of a bucket."""
        return self.total(self.tables(bucket))

    def tables(self, bucket: int) -> Iterator[Any]:
        """Iterate over the tables of a bucket, those in files included."""
        yield from self._buffered[bucket]
        path = None if self._folder is None else self._folder / str(bucket)
        if path is not None and path.exists():
            size = path.stat().st_size
            with path.open("rb") as file:
                while file.tell() < size:
                    content, ends, counts = array("q", file.read(24))
                    yield self.table(
                        Words.from_buffers(file.read(content), bytearray(file.read(ends)), bytearray(file.read(counts)))
                    )

    def close(self) -> None:
        """Delete the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class WordRuns(Runs):
    """The same for what was counted in C on this machine, which needs no NumPy."""

    def total(self, tables: Iterable[Words], least: int = 1) -> Words:
        """Return the sum of tables, without what occurs less than `least` times."""
        counter = WordCounter(None)
        for table in tables:
            counter.add(table)
        return counter.words(least)

    def table(self, words: Words) -> Words:
        """Return a table that was read from a file."""
        return words


class WordTables:
    """What several threads count, in about `max_memory` bytes.

    Each thread has an eighth of it, divided by their number, before its counts go to buckets here; a quarter is kept
    here before that goes to files.

    Attributes:
        used: whether counts were taken.
    """

    def __init__(self, max_memory: int, threads: int) -> None:
        self._runs, self._share, self._lock = WordRuns(BUCKETS, max_memory // 4), max_memory // (8 * threads), Lock()
        self.used = False

    def __enter__(self) -> WordTables:
        return self

    def __exit__(self, *given: object) -> None:
        self._runs.close()

    def spill(self, counter: WordCounter) -> None:
        """Take the counts of a counter if they exceed its share. Raises TrainingError where they can't be written."""
        if counter.nbytes > self._share:
            self.take(counter)

    def take(self, counter: WordCounter) -> None:
        """Take the counts of a counter, which begins anew. Raises TrainingError where they can't be written."""
        self.used = True
        for bucket in range(BUCKETS):
            table = counter.words(1, bucket, BUCKETS)
            with self._lock:
                self._runs.add(bucket, table)
        counter.clear()

    def sums(self, least: int = 1) -> Iterator[Words]:
        """Yield what occurs `least` times, bucket by bucket, in no order that means anything."""
        for bucket in range(BUCKETS):
            yield self._runs.total(self._runs.tables(bucket), least)
