"""Spill runs: count tables kept by bucket, and written to files when they exceed a memory limit.

At the limit, the tables in memory are summed bucket by bucket and written, one *run* per bucket. At the end the runs of
each bucket are summed. So memory holds at most the limit plus the sum of one bucket. Source: external sorting's runs.

Chapter: More than one machine. Cost: each run is written once and read once.
"""

from __future__ import annotations

import shutil
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from ...errors import TrainingError
from .counters import sum_counts
from .native import NativeCounter
from .pre_token_counts import PreTokenCounts

BUCKETS = 16


class Runs:
    """Tables in `buckets` buckets, with about `limit` bytes in memory; files go to a new folder in `folder`.

    Attributes:
        spilled: bytes written to files.
    """

    def __init__(self, buckets: int, limit: int, folder: str | None = None) -> None:
        self._buffered: list[list[PreTokenCounts]] = [[] for _ in range(buckets)]
        self._limit, self._size, self._parent = limit, 0, folder
        self._folder: Path | None = None
        self.spilled = 0

    def add(self, bucket: int, table: PreTokenCounts) -> None:
        """Add a table. Raises TrainingError if it can't be written."""
        self._buffered[bucket].append(table)
        self._size += table.nbytes
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
                buffers = [memoryview(buffer).cast("B") for buffer in sum_counts(tables)]
                sizes = array("q", [buffer.nbytes for buffer in buffers])
                with (self._folder / str(bucket)).open("ab") as file:
                    sizes.tofile(file)
                    for buffer in buffers:
                        file.write(buffer)
                self.spilled += sum(sizes)
                tables.clear()
        self._size = 0

    def sum(self, bucket: int, least: int = 1) -> PreTokenCounts:
        """Sum the tables of a bucket, and drop pre-tokens that occur less than `least` times."""
        return sum_counts(self._tables(bucket), least)

    def _tables(self, bucket: int) -> Iterator[PreTokenCounts]:
        """Iterate over the tables of a bucket, in memory and in files."""
        yield from self._buffered[bucket]
        path = None if self._folder is None else self._folder / str(bucket)
        if path is not None and path.exists():
            size = path.stat().st_size
            with path.open("rb") as file:
                while file.tell() < size:
                    yield PreTokenCounts.from_buffers(*(file.read(length) for length in array("q", file.read(24))))

    def close(self) -> None:
        """Delete the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class ThreadCounts:
    """The counts of several threads, in about `max_memory` bytes.

    The threads share an eighth of it for their own counters. A counter that exceeds its share moves its counts to the
    buckets here, which keep a quarter in memory before they go to files.

    Attributes:
        has_counts: True once a counter's counts were moved here.
    """

    def __init__(self, max_memory: int, threads: int) -> None:
        self._runs, self._share, self._lock = Runs(BUCKETS, max_memory // 4), max_memory // (8 * threads), Lock()
        self.has_counts = False

    def __enter__(self) -> ThreadCounts:
        return self

    def __exit__(self, *error: object) -> None:
        self._runs.close()

    def spill(self, counter: NativeCounter) -> None:
        """Move a counter's counts to the buckets if they exceed its share of the memory.

        Raises TrainingError if they can't be written.
        """
        if counter.nbytes > self._share:
            self.take(counter)

    def take(self, counter: NativeCounter) -> None:
        """Move a counter's counts to the buckets, and clear it. Raises TrainingError if they can't be written."""
        self.has_counts = True
        for bucket in range(BUCKETS):
            table = counter.table(1, bucket, BUCKETS)
            with self._lock:
                self._runs.add(bucket, table)
        counter.clear()

    def sums(self, least: int = 1) -> Iterator[PreTokenCounts]:
        """Yield tables of pre-tokens that occur at least `least` times, bucket by bucket, in arbitrary order."""
        for bucket in range(BUCKETS):
            yield self._runs.sum(bucket, least)
