"""Array files, written atomically: `.npy`, or `.bin`, which has no header.

Numbers go to a temporary file as they arrive. At the end the length is written to the header, the file is flushed to
disk and read back for its SHA-256, and it is renamed. Memory: one appended array.
"""

import hashlib
import io
import os
from pathlib import Path

from .._support.numpy_import import NDArray, np

TEMPORARY = ".part"


def npy_header(dtype: str, length: int) -> bytes:
    """Return the header of a `.npy` file. Its size doesn't depend on `length`.

    >>> len(npy_header("<u2", 0)), len(npy_header("<u2", 10**12))
    (128, 128)
    """
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": dtype, "fortran_order": False, "shape": (length,)})
    return header.getvalue()


def size_of(dtype: str, length: int, npy: bool) -> int:
    """Return the size in bytes of a file of `length` numbers."""
    return length * np.dtype(dtype).itemsize + (len(npy_header(dtype, length)) if npy else 0)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class ArrayFile:
    """An array file while it is written. Raises OSError, as do its methods.

    Attributes:
        length: the number of numbers written.
    """

    def __init__(self, path: Path, dtype: str, npy: bool) -> None:
        self.path, self.length = path, 0
        self._dtype, self._npy = dtype, npy
        self._temporary = path.with_name(f".{path.name}{TEMPORARY}")
        self._file = self._temporary.open("wb")
        if npy:
            self._file.write(npy_header(dtype, 0))

    def append(self, numbers: NDArray[np.generic]) -> None:
        """Append numbers to the file."""
        self._file.write(numbers.astype(self._dtype).data)
        self.length += len(numbers)

    def finish(self) -> str:
        """Rename the file to its final name; return its SHA-256."""
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
        """Remove the temporary file, unless it was renamed."""
        try:
            self._file.close()
        except OSError:  # the disk has no room for the buffered data
            pass
        finally:
            self._temporary.unlink(missing_ok=True)
