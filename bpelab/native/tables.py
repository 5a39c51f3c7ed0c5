"""Tables of vocabularies that were made before, one file each, mapped into memory: shared, and there at once.

A file is the block of `table_file.h`, whose checksum is compared when it is opened. It is written whole or not at all,
and ignored where it doesn't fit; its name is a hash of the model and of this package's C. The oldest are deleted beyond
512 MB in all. Cost: 2 ms to check 16 MB, for 100,000 tokens. Chapter: Compiled.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import sys
from contextlib import suppress
from functools import lru_cache

from ..formats.table_cache import HASH, SMALLEST, model_hash
from ..textio import write_atomically
from ..user_cache import cache_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model import BPEModel
    from ._core import Encoder

ROOM = 512_000_000
"""Bytes of all files."""
SUFFIX = ".native"


@lru_cache(1)
def _version(core: Any) -> bytes:
    """A hash of the extension, and of what it is given: other code may lay tables out otherwise."""
    digest = hashlib.sha256()
    for path in (sys.modules[core.__module__].__file__ or "", os.path.join(os.path.dirname(__file__), "arrays.py")):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.digest()


def path_for(model: BPEModel, core: Any) -> str | None:
    """Where a model's tables are kept; None for one that is made as quickly, and where nothing is kept."""
    folder = cache_folder()
    if folder is None or (HASH not in vars(model) and len(model.tokens) < SMALLEST):
        return None
    name = model_hash(model)
    if name is None:
        return None
    with suppress(OSError):
        return os.path.join(folder, "native", hashlib.sha256(_version(core) + name.encode()).hexdigest() + SUFFIX)
    return None


def fetch(path: str, core: type[Encoder], levels: tuple[Any, ...]) -> Encoder | None:
    """The encoder whose tables are in a file; None where there is none, or it is damaged."""
    try:
        with open(path, "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # it isn't there, or it is empty
        return None
    with suppress(OSError):
        os.utime(path)  # it was used now
    with suppress(ValueError):
        return core.from_tables(mapped, levels)
    return None


def store(name: str, encoder: Encoder) -> None:
    """Keep the tables of an encoder. What can't be written is not kept, and nobody is told."""
    from pathlib import Path

    path = Path(name)
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, encoder.tables())
        files = sorted(path.parent.glob(f"*{SUFFIX}"), key=lambda file: file.stat().st_mtime, reverse=True)
        room = ROOM
        for file in files:
            room -= file.stat().st_size
            if room < 0 and file != path:
                file.unlink(missing_ok=True)
