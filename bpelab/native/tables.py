"""A disk cache of vocabularies' tables, one file each, mapped into memory: shared by processes, and ready at once.

A file is the block of `table_file.h`, whose checksum is compared when it is first opened (`_support/checked_files.py`).
It is written whole or not at all, and ignored if it is damaged; its name is a hash of the model and of the extension.
The least recently used files are deleted when all together exceed 512 MB. Cost: 2 ms to check 16 MB, for 100,000
tokens, once; to open them, less than 1. Chapter: Native code.
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
from ..model.disk_cache import HASH, SMALLEST, model_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from ..model.bpe import BPEModel
    from ._core import Encoder

MAX_BYTES = 512_000_000
"""Of all files together."""
SUFFIX = ".native"
WORDS, TRAILER = b"bpelabw\n", struct.Struct("<8sQ")
"""The end of a file with the tables of words after the others: where they begin."""


@lru_cache(1)
def _version(core: Any) -> bytes:
    """Return a checksum of the extension and of `arrays.py`: another version may have another layout of the tables."""
    extension, sums = sys.modules[core.__module__], b""
    for path in (extension.__file__ or "", os.path.join(os.path.dirname(__file__), "arrays.py")):
        with open(path, "rb") as file:
            sums += extension.checksum(file.read()).to_bytes(8, "little")
    return sums


def path_for(model: BPEModel, core: Any) -> str | None:
    """Return the file of a model's tables; None if building them is as quick, or nothing is cached."""
    folder = cache_dir()
    if folder is None or (HASH not in vars(model) and len(model.tokens) < SMALLEST):
        return None
    name = model_hash(model)
    if name is None:
        return None
    try:
        return os.path.join(folder, "native", sha256(_version(core) + name.encode()).hex() + SUFFIX)
    except OSError:
        return None


def fetch(path: str, core: type[Encoder], levels: tuple[Any, ...]) -> Encoder | None:
    """Return the encoder with the tables in a file; None if there is no such file, or it is damaged."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # no such file, or an empty one
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
    """Write the tables of an encoder to the cache. Write errors are ignored silently."""
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
    """Return the time at which a file was written or, as the note about it says, last opened."""
    note = note_of(str(file))
    times = [file.stat().st_mtime]
    if note is not None and os.path.exists(note):
        times.append(os.stat(note).st_mtime)
    return max(times)


def _block(encoder: Encoder) -> bytes:
    """Return the tables of an encoder; of one for superwords also those of its words, and where these begin."""
    block = encoder.tables()
    if encoder.words is None:
        return block
    return block + encoder.words.tables() + TRAILER.pack(WORDS, len(block))
