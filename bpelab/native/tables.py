"""A disk cache of vocabularies' tables, one file each, mapped into memory: shared by processes, and ready at once.

A file is the block of `table_file.h`, whose checksum is compared when it is opened. It is written whole or not at all,
and ignored if it is damaged; its name is a hash of the model and of the extension. The least recently used files are
deleted when all together exceed 512 MB. Cost: 2 ms to check 16 MB, for 100,000 tokens. Chapter: Native code.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import sys
from contextlib import suppress
from functools import lru_cache

from .._support.cache_dir import cache_dir
from .._support.textio import write_atomically
from ..model.disk_cache import HASH, SMALLEST, model_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    """Return a hash of the extension and of `arrays.py`: another version may have another layout of the tables."""
    digest = hashlib.sha256()
    for path in (sys.modules[core.__module__].__file__ or "", os.path.join(os.path.dirname(__file__), "arrays.py")):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.digest()


def path_for(model: BPEModel, core: Any) -> str | None:
    """Return the file of a model's tables; None if building them is as quick, or nothing is cached."""
    folder = cache_dir()
    if folder is None or (HASH not in vars(model) and len(model.tokens) < SMALLEST):
        return None
    name = model_hash(model)
    if name is None:
        return None
    with suppress(OSError):
        return os.path.join(folder, "native", hashlib.sha256(_version(core) + name.encode()).hexdigest() + SUFFIX)
    return None


def fetch(path: str, core: type[Encoder], levels: tuple[Any, ...]) -> Encoder | None:
    """Return the encoder with the tables in a file; None if there is no such file, or it is damaged."""
    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # no such file, or an empty one
        return None
    with suppress(OSError):
        os.utime(path)  # used now: deleted last
    block, words = memoryview(mapped), None
    with suppress(ValueError):
        if block[-TRAILER.size :][: len(WORDS)] == WORDS:
            size = TRAILER.unpack(block[-TRAILER.size :])[1]
            words = core.from_tables(block[size : -TRAILER.size], ())
            block = block[:size]
        return core.from_tables(block, levels, words)
    return None


def store(name: str, encoder: Encoder) -> None:
    """Write the tables of an encoder to the cache. Write errors are ignored silently."""
    from pathlib import Path

    path = Path(name)
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, _block(encoder))
        files = sorted(path.parent.glob(f"*{SUFFIX}"), key=lambda file: file.stat().st_mtime, reverse=True)
        left = MAX_BYTES
        for file in files:
            left -= file.stat().st_size
            if left < 0 and file != path:
                file.unlink(missing_ok=True)


def _block(encoder: Encoder) -> bytes:
    """Return the tables of an encoder; of one for superwords also those of its words, and where these begin."""
    block = encoder.tables()
    if encoder.words is None:
        return block
    return block + encoder.words.tables() + TRAILER.pack(WORDS, len(block))
