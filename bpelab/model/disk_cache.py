"""A per-user disk cache of parsed vocabularies, so that a file opens at once the second time.

A tokenizer.json of 150,000 tokens takes half a second to parse and check. The result is written, as plain arrays, to a
file named by the SHA-256 of the source, and read from there while the source stays the same. Every file holds the hash
of its own content and is ignored if that doesn't match. It is written whole or not at all, so two processes may write
it at once. It can be deleted at any time, and contains no code.

`_support/cache_dir.py` chooses the folder. Chapter: File formats.
"""

from __future__ import annotations

import os
import sys
from array import array

from .._support.cache_dir import cache_dir
from .._support.checked_files import is_checked, remember_checked
from .._support.light_hash import sha256
from .._support.textio import write_atomically
from .lazy_model import LazyModel, ModelColumns
from .rank_merges import RankMerges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .bpe import BPEModel
    from .initial_symbols import InitialSymbols

VERSION = f"bpelab tables 5 {sys.byteorder} {array('I').itemsize}"
SMALLEST = 20_000
"""The number of tokens from which caching pays off."""
HASH = "_hash_of_tables"


def fingerprint(*parts: bytes) -> str:
    """Return the cache key of a source: a hash of its parts and of the cache format's version."""
    return sha256(VERSION.encode(), *_with_lengths(parts)).hex()


def store(name: str, model: BPEModel, extra: bytes = b"") -> None:
    """Store a model and `extra` bytes in the cache. Does nothing, without a warning, if the cache isn't writable."""
    folder = cache_dir()
    if folder is None or size_of(model) < SMALLEST or not _holds(model):
        return
    from pathlib import Path

    about = f"{model_hash(model)} {ModelColumns.of(model).highest}".encode()
    body = _joined([about, extra, *_parts(model)])
    try:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(Path(folder, f"{name}.tables"), sha256(body) + body)
    except OSError:
        return


def size_of(model: BPEModel) -> int:
    """Return the number of tokens, without making the model's dictionaries."""
    return len(model.tokens if model.columns is None else model.columns.ids)


def model_hash(model: BPEModel) -> str | None:
    """Return a hash of everything that a model's ids depend on, computed once; None if arrays can't hold the model."""
    if HASH not in vars(model) and _holds(model):
        vars(model)[HASH] = sha256(_joined(_parts(model))).hex()
    known: str | None = vars(model).get(HASH)
    return known


def _parts(model: BPEModel) -> list[bytes]:
    """Return a model serialized: its initial symbols, its kind, columns of numbers, and its tokens end to end."""
    columns = ModelColumns.of(model)
    numbers = (columns.ids, columns.ends, *(columns.merges or ()))
    return [
        _written(model.initial_symbols),
        bytes([model.ignore_merges, columns.merges is None]),
        *(column.tobytes() for column in numbers),
        columns.content.tobytes(),
    ]


def _joined(parts: list[bytes]) -> bytes:
    return b"".join(_with_lengths(parts))


def _with_lengths(parts: Iterable[bytes]) -> Iterator[bytes]:
    return (part for data in parts for part in (len(data).to_bytes(8, "little"), data))


def fetch(name: str) -> tuple[BPEModel, bytes] | None:
    """Return a stored model and its `extra` bytes, or None if the file is missing or damaged."""
    folder = cache_dir()
    if folder is None:
        return None
    path = os.path.join(folder, f"{name}.tables")
    try:
        with open(path, "rb") as file:
            status, data = os.fstat(file.fileno()), file.read()
    except OSError:
        return None
    checked = is_checked(path, status)
    if len(data) < 40 or not (checked or sha256(memoryview(data)[32:]) == data[:32]):
        return None
    try:
        model = _read(data)
        if not checked:
            remember_checked(path, status)
        return model
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None  # another program's file with this name


def _read(data: bytes) -> tuple[BPEModel, bytes]:
    """Return the model, lazily: its dictionaries of a hundred thousand tokens are built on first access."""
    rest, parts = memoryview(data)[32:], []
    while rest:
        size = int.from_bytes(rest[:8], "little")
        parts.append(rest[8 : 8 + size])
        rest = rest[8 + size :]
    about, extra, written, (ignore_merges, ranked), *columns, joined = parts
    (known, highest), start = str(about, "ascii").split(), len(data) - len(joined)
    ids, ends, *merged = (column.cast("I") for column in columns)
    if not SMALLEST <= len(ids) == len(ends) or ends[-1] != len(joined) or len(set(map(len, merged))) > 1:
        raise ValueError("the columns don't fit each other")
    merges = None if ranked else _four(merged)
    model = LazyModel(
        ModelColumns(ids, ends, data, start, int(highest), merges), bool(ignore_merges), _read_initial_symbols(written)
    )
    vars(model)[HASH] = known
    return model, extra.tobytes()


def _four(columns: list[memoryview]) -> tuple[memoryview, memoryview, memoryview, memoryview]:
    rank, left, right, new = columns or [memoryview(array("I"))] * 4
    return rank, left, right, new


def _holds(model: BPEModel) -> bool:
    """Return whether arrays can hold a model.

    They can't hold a rank table whose initial symbols aren't bytes, symbols of several characters, and two tokens with
    equal bytes.
    """
    if model.columns is not None:
        return True
    ranked = isinstance(model.merges, RankMerges) and model.initial_symbols is not None
    symbols = model.initial_symbols is not None and model.initial_symbols.symbols
    return not ranked and not symbols and len(set(model.tokens.values())) == len(model.tokens)


def _written(initial_symbols: InitialSymbols | None) -> bytes:
    if initial_symbols is None:
        return b""
    import json

    plain = {key: _plain(value) for key, value in vars(initial_symbols).items() if key != "symbols"}
    return json.dumps(plain).encode()


def _plain(value: Any) -> Any:
    return (
        value.decode("latin-1")
        if isinstance(value, bytes)
        else list(value.items())
        if isinstance(value, dict)
        else value
    )


def _read_initial_symbols(written: memoryview) -> InitialSymbols | None:
    if not written:
        return None
    import json

    from .initial_symbols import InitialSymbols

    data = json.loads(written.tobytes())
    byte_tokens = None if data["byte_tokens"] is None else dict(data["byte_tokens"])
    texts = {key: data[key].encode("latin-1") for key in ("prefix", "suffix")}
    return InitialSymbols(**{**data, "byte_tokens": byte_tokens, **texts})
