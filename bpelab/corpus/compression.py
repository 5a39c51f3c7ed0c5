"""Decompression: read a file in blocks of bytes, decompressed if it is gzip or zstd, in bounded memory.

A compressed file may expand to thousands of times its size, or be truncated. Expansion costs only time, since no block
is larger than `BLOCK`. Truncation is an error, not the end of the text. Source: RFC 1952 (gzip), RFC 8878 (zstd).
"""

import gzip
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from .._support.install import install_command
from ..errors import CorpusError, MissingDependencyError
from .fsspec_files import open_path
from .inputs import Input

BLOCK = 1 << 20
ZSTD_CHUNK = 1 << 10
"""Compressed bytes to pass to zstd at once: 4 bytes may expand to a block of 128 KiB, so these to at most 32 MiB."""
FETCH_AGAIN = "fetch it again, or compress it again"

Advance = Callable[[int], object]


def blocks(source: Input, advance: Advance = lambda size: None, span: tuple[int, int] | None = None) -> Iterator[bytes]:
    """Yield a file's content in blocks of at most BLOCK bytes; `advance` is called with the count of bytes read.

    `span` is the range of bytes (from, to) to read from an uncompressed file.

    Raises CorpusError for a file that can't be read, is damaged, or is truncated; MissingDependencyError.
    """
    read = {".gz": _gzip, ".zst": _zstd}.get(Path(source.form).suffix, _plain)
    try:
        with open_path(source.path, seeks=span is not None) as raw, closing(read(raw, source.path)) as found:
            offset, left = (0, sys.maxsize) if span is None else (raw.seek(span[0]), span[1] - span[0])
            for block in found:
                advance(raw.tell() - offset)
                offset = raw.tell()
                for start in range(0, min(len(block), left), BLOCK):
                    yield block[start : min(start + BLOCK, left)]
                left -= len(block)
                if left <= 0:
                    return
    except gzip.BadGzipFile as error:
        raise CorpusError(f"{source.path}: is not a complete gzip file: {error}; {FETCH_AGAIN}") from error
    except OSError as error:
        raise CorpusError(f"{source.path}: can't be read: {error.strerror or error}") from error


def _plain(raw: BinaryIO, path: str) -> Generator[bytes, None, None]:
    while block := raw.read(BLOCK):
        yield block


def _gzip(raw: BinaryIO, path: str) -> Generator[bytes, None, None]:
    if not raw.peek(1):  # type: ignore[attr-defined]
        raise CorpusError(f"{path}: is empty, which no gzip file is; {FETCH_AGAIN}")
    try:
        with gzip.GzipFile(fileobj=raw) as file:
            yield from _plain(file, path)  # type: ignore[arg-type]
    except EOFError as error:
        raise CorpusError(f"{path}: is cut off: gzip's data ends before its end; {FETCH_AGAIN}") from error
    except zlib.error as error:
        raise CorpusError(f"{path}: is damaged: {error}; {FETCH_AGAIN}") from error


def _zstd(raw: BinaryIO, path: str) -> Generator[bytes, None, None]:
    try:
        import zstandard
    except ImportError as error:
        raise MissingDependencyError(f"{path}: zstandard is not installed: {install_command('files')}") from error
    decompressor = zstandard.ZstdDecompressor()
    frame, begun, frames = decompressor.decompressobj(), False, 0
    try:
        while chunk := raw.read(BLOCK):
            found: list[bytes] = []
            size = 0
            for start in range(0, len(chunk), ZSTD_CHUNK):
                fed = chunk[start : start + ZSTD_CHUNK]
                while fed:
                    begun = True
                    found.append(frame.decompress(fed))
                    size, fed = size + len(found[-1]), b""
                    if frame.eof:
                        fed, begun, frames = frame.unused_data, False, frames + 1
                        frame = decompressor.decompressobj()
                if size >= BLOCK:
                    yield b"".join(found)
                    found, size = [], 0
            yield b"".join(found)
    except zstandard.ZstdError as error:
        raise CorpusError(f"{path}: is not a complete zstd file: {_error_text(error)}; {FETCH_AGAIN}") from error
    if begun or not frames:
        raise CorpusError(f"{path}: is cut off: zstd's data ends before its end; {FETCH_AGAIN}")


def _error_text(error: Any) -> str:
    return str(error).removeprefix("zstd decompressor error: ").removeprefix("zstd decompress error: ")
