"""Remote files: addresses such as `s3://bucket/a.txt` or `https://example.org/a.jsonl.gz`, opened by fsspec.

An address has `://` in it. Everything else is a path on this machine and doesn't use fsspec. Chapter: More than
one machine. Cost: that of the store; one or two requests for the size of each file.
"""

import hashlib
import io
import os
import re
from pathlib import Path
from typing import Any, BinaryIO

from .._support.install import install_command
from .._support.json_document import open_file
from ..errors import CorpusError, MissingDependencyError, TokenizerFileError

BUFFER = 1 << 20
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*://")


def is_address(path: str) -> bool:
    """Return whether a path is an address, which fsspec opens.

    >>> is_address("s3://bucket/a.txt"), is_address("corpus/a.txt"), is_address("C:/a.txt")
    (True, False, False)
    """
    return _ADDRESS.match(path) is not None


def absolute(path: str) -> str:
    """Return the path or address in a form that is valid from any working folder."""
    return path if is_address(path) else os.path.abspath(path)


def _file_system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingDependencyError(f"{address}: fsspec is not installed: {install_command('distributed')}") from error
    try:
        found: tuple[Any, str] = url_to_fs(address)
    except ImportError as error:
        raise MissingDependencyError(f"{address}: fsspec needs another package for it: {error}") from error
    except Exception as error:  # a store's package may raise anything
        raise CorpusError(f"{address}: can't be read: {_error_text(error)}") from error
    return found


def stat_address(address: str) -> tuple[int, int]:
    """Return the size in bytes of the file at an address, and a hash of the version that its store reports.

    Raises CorpusError, MissingDependencyError.
    """
    system, path = _file_system(address)
    try:
        info, known = system.info(path), system.ukey(path)
    except Exception as error:
        raise CorpusError(f"{address}: can't be read: {_error_text(error)}") from error
    if info.get("type") == "directory":
        raise CorpusError(f"{address}: is a folder; name its files, or a pattern with *")
    if info.get("size") is None:
        raise CorpusError(f"{address}: its server doesn't tell how long it is; fetch the file and name that")
    state = repr([known, info.get("ETag"), info.get("Last-Modified")])
    return int(info["size"]), int(hashlib.sha256(state.encode()).hexdigest()[:15], 16)


def expand_address(address: str) -> list[str]:
    """Return the files at an address: the address itself, the files in a folder, or the matches of a `*`."""
    system, path = _file_system(address)
    web = address.startswith("http")  # its folders are pages
    try:
        if "*" in path:
            found = system.glob(path)
        elif not web and system.isdir(path):
            found = system.find(path)
        else:
            return [address]
        return sorted(str(system.unstrip_protocol(name)) for name in found)
    except Exception as error:
        raise CorpusError(f"{address}: can't be read: {_error_text(error)}") from error


def open_path(path: str, seeks: bool = False) -> BinaryIO:
    """Open the file at a path or an address; `seeks` says whether it will be read out of order.

    Raises CorpusError for a file that doesn't exist or is not regular; reading raises OSError.
    """
    if not is_address(path):
        try:
            return open_file(Path(path))
        except TokenizerFileError as error:
            raise CorpusError(str(error)) from error
    system, inner = _file_system(path)
    options = {"block_size": 0} if path.startswith("http") and not seeks else {}  # in one answer, without ranges
    try:
        return io.BufferedReader(_Remote(system.open(inner, "rb", **options)), BUFFER)
    except Exception as error:
        raise CorpusError(f"{path}: can't be read: {_error_text(error)}") from error


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:300]}".rstrip(": ")


class _Remote(io.RawIOBase):
    """A file opened by fsspec that turns every error of its store into an OSError."""

    def __init__(self, file: Any) -> None:
        self._file, self._position = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        try:
            self._position = int(self._file.seek(offset, whence))
        except Exception as error:
            raise OSError(_error_text(error)) from error
        return self._position

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except Exception as error:
            raise OSError(_error_text(error)) from error
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
