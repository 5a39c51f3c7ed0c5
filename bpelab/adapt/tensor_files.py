"""Rewrite safetensors files as a stream: most tensors are copied; those with a row per token get new rows.

The container is a length, a JSON header and the numbers of all tensors, end to end. The safetensors library needs all
tensors in memory to write it; here at most a block of rows is in memory. Before the folder is renamed, the library
opens every written file, which checks the header.

Chapter: New words for an old model. Cost: reads and writes each byte once; memory for a block of rows.
Source: the safetensors README (format), and its `serialize` for the order of tensors: wider types first, so that each
is aligned.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..chat.models.tensor_headers import SAFETENSORS_BITS, Tensor, safetensors_metadata
from ..errors import ModelFileError
from .numbers import from_float64, stored_type
from .row_map import MADE, PADDING, RowMap
from .row_rules import OldRows, Rule

CHUNK = 1 << 23
"""The number of bytes copied at a time."""
BLOCK = 1024
"""The number of rows computed at a time."""
Advance = Callable[[int], object]


def rewrite(
    source: Path,
    target: Path,
    tensors: Sequence[Tensor],
    changed: Mapping[str, RowMap],
    rule: Rule,
    seed: int,
    advance: Advance,
) -> str:
    """Write a copy of a safetensors file in which some tensors have new rows; return its SHA-256.

    Args:
        tensors: all tensors of the file.
        changed: tensor name -> where its new rows come from.
        advance: called with the number of bytes just written.

    The file is on disk when this returns. Raises ModelFileError if the source can't be read, OSError if the target
    can't be written.
    """
    ordered = sorted(sorted(tensors, key=lambda tensor: tensor.offset), key=lambda it: -SAFETENSORS_BITS[it.type])
    entries: dict[str, Any] = {}
    if metadata := safetensors_metadata(source):
        entries["__metadata__"] = metadata
    end = 0
    for tensor in ordered:
        shape, size = new_shape(tensor, changed.get(tensor.name))
        entries[tensor.name] = {"dtype": tensor.type, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    header = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    with source.open("rb") as file, HashedFile(target) as out:
        out.write(len(header).to_bytes(8, "little") + header)
        for tensor in ordered:
            rows = changed.get(tensor.name)
            parts = stored_bytes(file, tensor) if rows is None else new_rows(file, tensor, rows, rule, seed)
            for part in parts:
                out.write(part)
                advance(len(part))
    return out.hash


def copy(source: Path, target: Path, advance: Advance) -> str:
    """Copy a file unchanged; return its SHA-256. Raises the same errors as `rewrite`."""
    with source.open("rb") as file, HashedFile(target) as out:
        while part := reading(source, lambda: file.read(CHUNK)):
            out.write(part)
            advance(len(part))
    return out.hash


class HashedFile:
    """A new file that computes the SHA-256 of its contents, and is flushed to disk when it is closed."""

    def __init__(self, path: Path) -> None:
        self._file, self._hash = path.open("xb"), sha256()

    def write(self, data: bytes) -> None:
        """Write bytes."""
        self._hash.update(data)
        self._file.write(data)

    @property
    def hash(self) -> str:
        """The SHA-256 of the bytes written so far, in hexadecimal."""
        return self._hash.hexdigest()

    def __enter__(self) -> "HashedFile":
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        with self._file:
            if kind is None:
                self._file.flush()
                os.fsync(self._file.fileno())


def new_shape(tensor: Tensor, rows: RowMap | None) -> tuple[tuple[int, ...], int]:
    """Return a tensor's shape with its new rows, and its size in bytes."""
    if rows is None:
        return tensor.shape, tensor.size
    axis, count = row_axis(tensor), len(rows.source)
    shape = (*tensor.shape[:axis], count, *tensor.shape[axis + 1 :])
    return shape, tensor.size // tensor.shape[axis] * count


def row_axis(tensor: Tensor) -> int:
    """Return the axis of a tensor that counts rows: the second for a bias stored as one row."""
    return int(tensor.name.endswith("bias") and len(tensor.shape) == 2)


def stored_bytes(file: BinaryIO, tensor: Tensor) -> Iterator[bytes]:
    """Yield the bytes of a tensor in chunks. Raises ModelFileError."""
    for start in range(0, tensor.size, CHUNK):
        yield read_at(file, tensor, start, min(CHUNK, tensor.size - start))


def new_rows(file: BinaryIO, tensor: Tensor, rows: RowMap, rule: Rule, seed: int) -> Iterator[bytes]:
    """Yield the bytes of a tensor with new rows, in blocks: copied rows as stored, other rows computed.

    Equal matrices get equal rows, even under a random rule. Raises ModelFileError.
    """
    width = tensor.size // stored_type(tensor.type).itemsize // tensor.shape[row_axis(tensor)]

    def read(numbers: NDArray[np.int64]) -> NDArray[Any]:
        return read_rows(file, tensor, width, numbers)

    old, random = OldRows(read, tensor.type, rows.rows_with_token), np.random.default_rng(seed)
    for start in range(0, len(rows.source), BLOCK):
        source = rows.source[start : start + BLOCK]
        block = np.empty((len(source), width), stored_type(tensor.type))
        copied = source >= 0
        block[copied] = read(source[copied])
        if made := (np.flatnonzero(source == MADE) + start).tolist():
            parts = [rows.parts[number] for number in made]
            with np.errstate(all="ignore"):  # rows of NaN or infinity produce more of them
                block[source == MADE] = from_float64(rule(old, parts, random), tensor.type)
        if (padding := source == PADDING).any():
            block[padding] = from_float64(old.average, tensor.type)
        yield block.tobytes()


def read_rows(file: BinaryIO, tensor: Tensor, width: int, numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return the given rows of a tensor as stored; adjacent rows are read together. Raises ModelFileError."""
    kind = stored_type(tensor.type)
    begins = np.flatnonzero(np.diff(numbers, prepend=-2) != 1).tolist()
    parts = []
    for begin, end in zip(begins, [*begins[1:], len(numbers)]):
        data = read_at(file, tensor, int(numbers[begin]) * width * kind.itemsize, (end - begin) * width * kind.itemsize)
        parts.append(np.frombuffer(data, kind).reshape(-1, width))
    return np.concatenate(parts) if parts else np.empty((0, width), kind)


def read_at(file: BinaryIO, tensor: Tensor, start: int, size: int) -> bytes:
    """Return a range of a tensor's bytes. Raises ModelFileError."""

    def read() -> bytes:
        file.seek(tensor.offset + start)
        return file.read(size)

    data = reading(tensor.path, read)
    if len(data) < size:
        raise ModelFileError(f"{tensor.path} became shorter while it was read: run this again once it is whole")
    return data


def reading(path: Path, read: Callable[[], bytes]) -> bytes:
    """Call `read` and return its result. Raises ModelFileError, with the file's name, if it raises OSError."""
    try:
        return read()
    except OSError as error:
        raise ModelFileError(f"{path} can't be read: {error.strerror or error}") from error
