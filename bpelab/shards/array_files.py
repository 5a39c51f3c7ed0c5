"""Arrays of numbers as files that are there whole or not at all: `.npy`, or `.bin`, which is the numbers alone.

Numbers go to a temporary file as they come. When all are there the header is put right, the file is on disk, its
SHA-256 is worked out from what can be read back, and it gets its name. Memory: what is handed over at once.
"""

import hashlib
import io
import os
from pathlib import Path

from .numbers import NDArray, np

TEMPORARY = ".part"


def npy_header(dtype: str, length: int) -> bytes:
    """What stands before the numbers in a `.npy` file; of one size, whatever the length.

    >>> len(npy_header("<u2", 0)), len(npy_header("<u2", 10**12))
    (128, 128)
    """
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": (length,)})
    return header.getvalue()


def size_of(dtype: str, length: int, npy: bool) -> int:
    """The bytes of a file of so many numbers."""
    return length * np.dtype(dtype).itemsize + (len(npy_header(dtype, length)) if npy else 0)


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class ArrayFile:
    """A file of numbers of one type that is being written. Raises OSError, as do its methods.

    Attributes:
        length: how many numbers were written.
    """

    def __init__(self, path: Path, dtype: str, npy: bool) -> None:
        self.path, self.length = path, 0
        self._dtype, self._npy = dtype, npy
        self._temporary = path.with_name(f".{path.name}{TEMPORARY}")
        self._file = self._temporary.open("wb")
        if npy:
            self._file.write(npy_header(dtype, 0))

    def append(self, numbers: NDArray[np.generic]) -> None:
        """Write more numbers."""
        self._file.write(numbers.astype(self._dtype).data)
        self.length += len(numbers)

    def finish(self) -> str:
        """Give the file its name; its SHA-256."""
        if self._npy:
            self._file.seek(0)
            self._file.write(npy_header(self._dtype, self.length))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        digest = sha256(self._temporary)
        os.replace(self._temporary, self.path)
        return digest

    def discard(self) -> None:
        """Remove what was written, if it has no name yet."""
        try:
            self._file.close()
        except OSError:  # what it still held found no room
            pass
        finally:
            self._temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk, where the system lets one ask for it."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
