"""Tables of models, kept per user: building those of 100,000 tokens takes a quarter of a second, reading them 20 ms.

A file is named by a hash of the model and of the sources that make tables of it. It begins with the SHA-256 of all that
follows, since kernels trust the tables: a file that was cut off, or that anything else happened to, is not used. It is
read, not mapped, so nothing that is done to it later reaches a kernel. The oldest are removed beyond 512 MB in all.

Chapter: Compiled. Cost: some 20 MB for 100,000 tokens.
"""

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..formats.table_cache import HASH, SMALLEST, model_hash
from ..model import BPEModel
from ..textio import write_atomically
from ..user_cache import cache_folder
from .kernel_folder import sources_hash
from .large_pages import zeros
from .tables import ModelTables

ROOM = 512_000_000
"""Bytes of all files."""
ALIGNED = 64


def kept(model: BPEModel, build: Callable[[BPEModel], ModelTables | None]) -> ModelTables | None:
    """The tables of a model: those that were kept, or else those that `build` makes, which are kept then."""
    path = _path(model)
    tables = None if path is None else _read(path)
    if tables is None:
        tables = build(model)
        if path is not None and tables is not None:
            with suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(path, tables)
                _remove_oldest(path)
    return tables


def _path(model: BPEModel) -> Path | None:
    folder = cache_folder()
    if folder is None or (HASH not in vars(model) and len(model.tokens) < SMALLEST):
        return None
    model_name = model_hash(model)
    if model_name is None:
        return None
    name = hashlib.sha256(f"{sources_hash()} {np.little_endian} {model_name}".encode()).hexdigest()
    return folder / "compiled" / f"{name}.arrays"


def _write(path: Path, tables: ModelTables) -> None:
    arrays = {name: value for name, value in tables._asdict().items() if isinstance(value, np.ndarray)}
    head: dict[str, Any] = {
        name: [value.dtype.str, value.shape] if name in arrays else int(value)
        for name, value in tables._asdict().items()
    }
    line = json.dumps(head).encode()
    parts = [len(line).to_bytes(8, "little"), line, bytes(-(40 + len(line)) % ALIGNED)]
    for array in arrays.values():
        parts += [array.tobytes(), bytes(-array.nbytes % ALIGNED)]
    body = b"".join(parts)
    write_atomically(path, hashlib.sha256(body).digest() + body)


def _read(path: Path) -> ModelTables | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < 40 or hashlib.sha256(memoryview(data)[32:]).digest() != data[:32]:
        return None
    with suppress(OSError):
        os.utime(path)  # it was used now
    with suppress(ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return _tables(data)
    return None  # somebody else's file under this name


def _tables(data: bytes) -> ModelTables:
    end = 40 + int.from_bytes(data[32:40], "little")
    head, place = json.loads(data[40:end]), end + -end % ALIGNED
    room = zeros(len(data))
    room[:] = np.frombuffer(data, np.uint8)
    fields: dict[str, Any] = {}
    for name, described in head.items():
        if isinstance(described, int):
            fields[name] = described
            continue
        kind, shape = np.dtype(described[0]), described[1]
        array = np.frombuffer(room, kind, int(np.prod(shape)), place).reshape(shape)
        fields[name], place = array, place + array.nbytes + -array.nbytes % ALIGNED
    kinds: dict[str, Callable[[int], Any]] = {
        "same_ids": bool, "same_made": bool, "pair_shift": np.uint64, "unknown": np.uint32, "whole": bool,
        "characters": bool, "fuse": bool,
    }  # fmt: skip
    return ModelTables(**{**fields, **{name: kind(fields[name]) for name, kind in kinds.items()}})


def _remove_oldest(new: Path) -> None:
    files = sorted(new.parent.glob("*.arrays"), key=lambda file: file.stat().st_mtime, reverse=True)
    room = ROOM
    for file in files:
        room -= file.stat().st_size
        if room < 0 and file != new:
            file.unlink(missing_ok=True)
