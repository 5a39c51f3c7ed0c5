"""A disk cache of vocabulary tables, one file each, mapped into memory: shared by processes, and ready at once.

A file is the block of `table_file.h`, whose checksum is verified when it is first opened (`_support/checked_files.py`).
Writes are atomic, and damaged files are ignored. The file name is a hash of the model and of the extension. When the
files exceed 512 MB in total, the least recently used ones are deleted. Cost: 2 ms to check 16 MB, for 100,000 tokens,
once; less than 1 ms to open them. Chapter: Native code.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from functools import lru_cache

from .._support.cache_dir import cache_dir
from .._support.checked_files import is_checked, note_of, remember_checked
from .._support.light_hash import sha256
from .._support.textio import write_atomically
from ..model.disk_cache import HASH, SMALLEST, model_hash, size_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from ..model.bpe import BPEModel
    from ._core import Encoder

MAX_BYTES = 512_000_000
"""The most bytes in all files together."""
SUFFIX = ".native"
WORDS, TRAILER = b"bpelabw\n", struct.Struct("<8sQ")
"""The trailer of a file that also has the tables of words; it holds their offset."""


@lru_cache(1)
def _version(core: Any) -> bytes:
    """Return a checksum of the extension and `arrays.py`, since other versions may lay out the tables differently."""
    extension, sums = sys.modules[core.__module__], b""
    for path in (extension.__file__ or "", os.path.join(os.path.dirname(__file__), "arrays.py")):
        with open(path, "rb") as file:
            sums += extension.checksum(file.read()).to_bytes(8, "little")
    return sums


def path_for(model: BPEModel, core: Any) -> str | None:
    """Return the path of a model's tables, or None if building them is as fast or caching is off."""
    folder = cache_dir()
    if folder is None or (HASH not in vars(model) and size_of(model) < SMALLEST):
        return None
    name = model_hash(model)
    if name is None:
        return None
    try:
        return os.path.join(folder, "native", sha256(_version(core) + name.encode()).hex() + SUFFIX)
    except OSError:
        return None


def fetch(path: str, core: type[Encoder], levels: tuple[Any, ...]) -> Encoder | None:
    """Return the encoder with the tables in a file, or None if the file is missing or damaged."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # the file is missing or empty
        return None
    block, words, checked = memoryview(mapped), None, is_checked(path, status)
    try:
        if block[-TRAILER.size :][: len(WORDS)] == WORDS:
            size = TRAILER.unpack(block[-TRAILER.size :])[1]
            words = core.from_tables(block[size : -TRAILER.size], (), None, checked)
            block = block[:size]
        encoder = core.from_tables(block, levels, words, checked)
    except ValueError:
        return None
    if not checked:
        remember_checked(path, status)
    return encoder


def store(name: str, encoder: Encoder) -> None:
    """Write the tables of an encoder to the cache. Write errors are ignored."""
    from pathlib import Path

    path = Path(name)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, _block(encoder))
        files = sorted(path.parent.glob(f"*{SUFFIX}"), key=_last_used, reverse=True)
        left = MAX_BYTES
        for file in files:
            left -= file.stat().st_size
            if left < 0 and file != path:
                file.unlink(missing_ok=True)
                Path(note_of(str(file)) or file).unlink(missing_ok=True)
    except OSError:
        return


def _last_used(file: Path) -> float:
    """Return when a file was last written or, according to its note, last opened."""
    note = note_of(str(file))
    times = [file.stat().st_mtime]
    if note is not None and os.path.exists(note):
        times.append(os.stat(note).st_mtime)
    return max(times)


def _block(encoder: Encoder) -> bytes:
    """Return the tables of an encoder; for superwords, also those of its words, and their offset."""
    block = encoder.tables()
    if encoder.words is None:
        return block
    return block + encoder.words.tables() + TRAILER.pack(WORDS, len(block))
