"""The GGUF container, llama.cpp's file format: read and write the header, not the weights after it.

A header is a list of keys with typed values, followed by one entry for each tensor; a vocabulary is a few of those
values. Only the header is read, so even a file of 100 GB takes O(header) time and memory, bounded by the limits
below. Strings are decoded with "surrogateescape", so a token may hold any bytes, and none is lost.

Chapter: File formats. Source: the GGUF specification, and llama.cpp `ggml/src/gguf.cpp`, whose refusals these are.
"""

import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .._support.json_document import open_file
from .._support.textio import write_atomically
from ..errors import ConversionError, TokenizerFileError

MAGIC, VERSIONS, ALIGNMENT = b"GGUF", (2, 3), 32
MAX_HEADER, MAX_ELEMENTS, MAX_TENSORS = 1 << 26, 1 << 22, 1 << 17
"""Limits on a header's bytes, array elements and tensors: several times what the largest files need."""
MAX_KEY, MAX_DEPTH, MAX_DIMENSIONS, ARRAY_COST, CHUNK = 65_535, 4, 4, 16, 1 << 18

STRUCT_CODES = {
    "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "uint32": "I", "int32": "i", "float32": "f",
    "bool": "?", "uint64": "Q", "int64": "q", "float64": "d",
}  # fmt: skip
TYPE_NAMES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array"]
TYPE_NAMES += ["uint64", "int64", "float64"]
"""The names of the types; the index of each is its code in a file."""


class TensorInfo(NamedTuple):
    """A tensor's entry: name, dimensions (the one that varies fastest first), ggml's type code, and offset in bytes."""

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int


@dataclass(frozen=True)
class GGUFFile:
    """A parsed header. `types` maps each key to its type: "uint32", "string", for arrays "[string]" or "[[int32]]".

    Tensors' offsets count from `data_start`, the offset in the file at which tensor data begins.
    """

    version: int
    byte_order: str
    metadata: dict[str, Any]
    types: dict[str, str]
    tensors: tuple[TensorInfo, ...]
    data_start: int


def read_metadata(path: str | Path) -> GGUFFile:
    """Return the header of a GGUF file, version 2 or 3, of either byte order. O(header) time and memory.

    Numbers become int, float and bool, strings str, arrays list. Bytes that aren't UTF-8 become U+DC80..U+DCFF;
    `text.encode("utf-8", "surrogateescape")` returns the original. Raises TokenizerFileError naming the key and the
    byte. Source: GGUF specification.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "v.gguf")
    >>> write_metadata(path, {"tokenizer.ggml.tokens": ["a", "b"], "n": 2}, {"n": "uint32"})
    >>> read_metadata(path).metadata
    {'tokenizer.ggml.tokens': ['a', 'b'], 'n': 2}
    """
    try:
        with open_file(Path(path)) as file:
            return _Header(path, file).read_header()
    except OSError as error:
        raise TokenizerFileError(path, "", f"can't be read: {error.strerror}") from error


class _Header:
    """A buffered reader of a header, front to back. It checks that bytes exist before it requests them.

    `data` is the buffered part of the file, `base` its offset in the file, and `position` the next byte in it.
    """

    def __init__(self, path: str | Path, file: BinaryIO) -> None:
        self.path, self.file, self.size = path, file, os.fstat(file.fileno()).st_size
        self.data, self.position, self.base = b"", 0, 0
        self.key, self.order, self.elements = "the header", "<", 0

    def error(self, problem: str) -> TokenizerFileError:
        return TokenizerFileError(self.path, f"{self.key} at byte {self.base + self.position:,}", problem)

    def check(self, count: int, size: int, what: str) -> None:
        """Raise TokenizerFileError unless `count` items of at least `size` bytes each can follow."""
        offset = self.base + self.position
        if count * size > self.size - offset:
            raise self.error(f"{count:,} {what} should follow, but the file has only {self.size - offset:,} more bytes")
        if offset + count * size > MAX_HEADER:
            raise self.error(f"{count:,} {what} make a header of more than {MAX_HEADER:,} bytes, the limit here")

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        end = self.position + size
        if end > len(self.data):
            self.check(size, 1, "bytes")
            self.base += self.position
            self.data = self.data[self.position :] + self.file.read(max(size - len(self.data) + self.position, CHUNK))
            self.position, end = 0, size
            if len(self.data) < size:
                raise self.error("the file got shorter while being read")
        part = self.data[self.position : end]
        self.position = end
        return part

    def number(self, code: str) -> Any:
        return struct.unpack(self.order + code, self.take(struct.calcsize("<" + code)))[0]

    def string(self) -> str:
        length = self.number("Q")
        self.check(length, 1, "bytes of text")
        return str(self.take(length), "utf-8", "surrogateescape")

    def strings(self, count: int) -> list[str]:
        """Return `count` strings, as `string` does, but three times as fast if they are in the buffer."""
        unpack_length, out = struct.Struct(self.order + "Q").unpack_from, []
        data, position, size = self.data, self.position, len(self.data)
        for _ in range(count):
            start = position + 8
            end = start + unpack_length(data, position)[0] if start <= size else size + 1
            if end > size:
                self.position = position
                out.append(self.string())
                data, position, size = self.data, self.position, len(self.data)
            else:
                out.append(str(data[start:end], "utf-8", "surrogateescape"))
                position = end
        self.position = position
        return out

    def read_header(self) -> GGUFFile:
        if self.size < 8 or (magic := self.take(4)) != MAGIC:
            start = "ends at once" if self.size < 8 else f"begins with {magic!r}"
            raise self.error(f"a GGUF file begins with b'GGUF' and a version, but this one {start}")
        version = self.number("I")
        if version and not version & 0xFFFF:  # no version is that large: the byte order is the other one
            self.order, version = ">", int.from_bytes(struct.pack("<I", version), "big")
        if version not in VERSIONS:
            reason = "has 32-bit lengths; convert the model again" if version == 1 else "is unknown"
            raise self.error(f"is GGUF version {version}, which {reason}; versions 2 and 3 can be read")
        tensors, keys = self.number("Q"), self.number("Q")
        self.check(tensors, 24, "tensors")
        self.check(keys, 13, "keys")
        if tensors > MAX_TENSORS:
            raise self.error(f"{tensors:,} tensors are more than {MAX_TENSORS:,}, the limit here")
        metadata, types = {}, {}
        for index in range(keys):
            self.key = f"key number {index + 1}"
            key = self.string()
            self.key = f"key {key[:80]!r}"
            if key in metadata or len(key.encode("utf-8", "surrogateescape")) > MAX_KEY:
                raise self.error("occurs twice" if key in metadata else f"is longer than {MAX_KEY:,} bytes")
            types[key], metadata[key] = self.value(self.type())
        alignment = metadata.get("general.alignment", ALIGNMENT)
        if types.get("general.alignment", "uint32") != "uint32" or alignment.bit_count() != 1:
            self.key = "key 'general.alignment'"
            raise self.error(f"must be a power of two as uint32, not {str(alignment)[:40]}")
        infos = tuple(self.tensor(index) for index in range(tensors))
        order, end = "little" if self.order == "<" else "big", self.base + self.position
        return GGUFFile(version, order, metadata, types, infos, end + -end % alignment)

    def type(self) -> str:
        code: int = self.number("I")
        if code >= len(TYPE_NAMES):
            raise self.error(f"the type {code} is not one of GGUF's, which run from 0 to {len(TYPE_NAMES) - 1}")
        return TYPE_NAMES[code]

    def value(self, kind: str, depth: int = 0) -> tuple[str, Any]:
        if kind == "string":
            return kind, self.string()
        if kind != "array":
            return kind, self.numbers(kind, 1)[0]
        if depth == MAX_DEPTH:
            raise self.error(f"arrays are nested more than {MAX_DEPTH} deep")
        inner, count = self.type(), self.number("Q")
        self.elements += count * (ARRAY_COST if inner == "array" else 1)
        if self.elements > MAX_ELEMENTS:
            raise self.error(f"the arrays have {self.elements:,} elements, but the limit here is {MAX_ELEMENTS:,}")
        if inner == "array":
            self.check(count, 12, "arrays")
            pairs = [self.value(inner, depth + 1) for _ in range(count)]
            kinds = {kind for kind, _ in pairs}
            if len(kinds) > 1:
                raise self.error(f"its arrays have elements of different types: {', '.join(sorted(kinds))}")
            return f"[{min(kinds, default='[uint8]')}]", [part for _, part in pairs]
        if inner == "string":
            self.check(count, 8, "strings")
            return "[string]", self.strings(count)
        return f"[{inner}]", list(self.numbers(inner, count))

    def numbers(self, kind: str, count: int) -> tuple[Any, ...]:
        code = STRUCT_CODES[kind]
        size = struct.calcsize("<" + code)
        self.check(count, size, "numbers")
        data = self.take(count * size)
        if kind == "bool" and data.translate(None, b"\0\1"):
            raise self.error("a bool is neither 0 nor 1")
        return struct.unpack(f"{self.order}{count}{code}", data)

    def tensor(self, index: int) -> TensorInfo:
        self.key = f"tensor number {index + 1}"
        name, dimensions = self.string(), self.number("I")
        if dimensions > MAX_DIMENSIONS:
            raise self.error(f"has {dimensions:,} dimensions; at most {MAX_DIMENSIONS} are allowed")
        return TensorInfo(name, self.numbers("uint64", dimensions), self.number("I"), self.number("Q"))


def write_metadata(path: str | Path, metadata: Mapping[str, Any], types: Mapping[str, str] | None = None) -> None:
    """Write a GGUF file of version 3, little-endian, with these keys and no tensors, whole or not at all.

    A str, a bool and a list of either need no type. Numbers do, from `types`: "uint32", "[int32]", "[[float32]]", as
    in `read_metadata`, whose two mappings survive a round trip. Lone surrogates U+DC80..U+DCFF become the bytes that
    they escape. Raises ConversionError naming the key, and OSError. O(size).
    """
    write_atomically(Path(path), encode_header(metadata, types))


def encode_header(
    metadata: Mapping[str, Any], types: Mapping[str, str] | None = None, tensors: Sequence[TensorInfo] = ()
) -> bytes:
    """Return the bytes of a file up to its tensor data. Arguments and errors as for `write_metadata`.

    The offsets of tensors count from the end of the returned bytes.
    """
    types = types or {}
    parts = [MAGIC, struct.pack("<IQQ", 3, len(tensors), len(metadata))]
    for key, value in metadata.items():
        try:
            name, kind = _encode("string", key), types.get(key) or _infer_type(value)
            if len(name) > MAX_KEY + 8:
                raise ValueError(f"it is longer than {MAX_KEY:,} bytes")
            if key == "general.alignment" and (kind != "uint32" or type(value) is not int or value.bit_count() != 1):
                raise ValueError("it must be a power of two as uint32")
            parts += (name, struct.pack("<I", _type_code(kind)), _encode(kind, value))
        except ValueError as error:
            raise ConversionError(f"GGUF can't hold the key {str(key)[:80]!r}: {error}") from error
    for tensor in tensors:
        parts += (_encode("string", tensor.name), struct.pack("<I", len(tensor.shape)))
        parts.append(struct.pack(f"<{len(tensor.shape)}QIQ", *tensor.shape, tensor.type, tensor.offset))
    parts.append(b"\0" * (-sum(map(len, parts)) % metadata.get("general.alignment", ALIGNMENT)))
    return b"".join(parts)


def _infer_type(value: object) -> str:
    """Return the type of a value that can have only one. Raises ValueError if it could have several."""
    depth = 0
    while isinstance(value, list) and value and depth < MAX_DEPTH:
        value, depth = value[0], depth + 1
    if not isinstance(value, str | bool):
        raise ValueError(f"{str(value)[:40]!r} could have several types; name the right one in `types`")
    return "[" * depth + ("string" if isinstance(value, str) else "bool") + "]" * depth


def _type_code(kind: str) -> int:
    name = "array" if kind[:1] == "[" else kind
    if name not in TYPE_NAMES or kind == "array":
        raise ValueError(f"{kind!r} is not a type of GGUF's")
    return TYPE_NAMES.index(name)


def _encode(kind: str, value: Any, depth: int = 0) -> bytes:
    """Return the bytes of a value, without the type code before it."""
    if kind[:1] != "[":
        return _encode_scalars(kind, [value])
    inner = kind[1:-1]
    if not isinstance(value, list) or depth == MAX_DEPTH or kind[-1] != "]":
        raise ValueError(f"{str(value)[:40]!r} is not a list of {inner!r}, nested at most {MAX_DEPTH} deep")
    head = struct.pack("<IQ", _type_code(inner), len(value))
    if inner[:1] == "[":
        return head + b"".join(_encode(inner, part, depth + 1) for part in value)
    return head + _encode_scalars(inner, value)


def _encode_scalars(kind: str, values: list[Any]) -> bytes:
    """Return the bytes of values that are not arrays, concatenated."""
    wanted = {"string": str, "bool": bool, "float32": float, "float64": float}.get(kind, int)
    for value in values:
        if type(value) is not wanted:
            raise ValueError(f"{str(value)[:40]!r} is not of the type {wanted.__name__}, which {kind} needs")
    if kind != "string":
        try:
            return struct.pack(f"<{len(values)}{STRUCT_CODES[kind]}", *values)
        except (struct.error, OverflowError) as error:
            raise ValueError(f"a number is too large for {kind}") from error
    parts: list[bytes] = []
    for text in values:
        data = text.encode("utf-8", "surrogateescape")
        parts += (len(data).to_bytes(8, "little"), data)
    return b"".join(parts)
