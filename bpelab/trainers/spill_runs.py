"""Spill runs: count tables kept by bucket, and written to files when they exceed a limit of memory.

Then the tables in memory are summed bucket by bucket and written, a *run* for each bucket; in the end the runs of a
bucket are summed. So memory holds the limit and the sum of one bucket. Source: the runs of external sorting.

Chapter: More than one machine. Cost: each run is written once and read once.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .._support.numpy_import import np
from ..errors import TrainingError
from .count_table import Counts, sum_counts


class Runs:
    """Tables in `buckets` buckets, of which about `limit` bytes are in memory; files go to a new folder in `folder`.

    Attributes:
        spilled: bytes written to files.
    """

    def __init__(self, buckets: int, limit: int, folder: str | None = None) -> None:
        self._buffered: list[list[Counts]] = [[] for _ in range(buckets)]
        self._limit, self._size, self._parent = limit, 0, folder
        self._folder: Path | None = None
        self.spilled = 0

    def add(self, bucket: int, table: Counts) -> None:
        """Keep a table. Raises TrainingError where it can't be written."""
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
                with (self._folder / str(bucket)).open("ab") as file:
                    for array in sum_counts(tables):
                        np.save(file, array, allow_pickle=False)
                        self.spilled += array.nbytes
                tables.clear()
        self._size = 0

    def sum(self, bucket: int) -> Counts:
        """Return the sum of all tables of a bucket."""
        return sum_counts(self._tables(bucket))

    def _tables(self, bucket: int) -> Iterator[Counts]:
        yield from self._buffered[bucket]
        path = None if self._folder is None else self._folder / str(bucket)
        if path is not None and path.exists():
            size = path.stat().st_size
            with path.open("rb") as file:
                while file.tell() < size:
                    yield Counts(*(np.load(file, allow_pickle=False) for _ in Counts._fields))

    def close(self) -> None:
        """Delete the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
