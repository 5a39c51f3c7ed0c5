"""Validate the headers of safetensors and GGUF files before an engine, which could crash, loads the weights.

A GGUF or safetensors file starts with a list of its tensors. Each is checked here: its type is known, its numbers lie
inside the file, and there are as many as its shape says. A truncated file, a web page under a model's name, a header
that promises more than the file has: each raises ModelFileError before any byte of the weights is read.

Chapter: Chat on your hardware. Cost: O(header). Sources: the safetensors README (format), the GGUF specification,
ggml's `ggml-common.h` for the sizes of blocks.
"""

import os
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from ..._support.json_document import JSONFile, open_file, refuse_foreign_file, short_repr
from ...errors import ModelFileError, TokenizerFileError
from ...formats.gguf_container import GGUFFile, read_metadata

AGAIN = "download it again, or convert the model again"
LONGEST_HEADER = 100_000_000
"""The most bytes in a safetensors header: the safetensors library's limit."""

SAFETENSORS_BITS = {
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "C64": 64, "I64": 64, "U64": 64,
    "F64": 64,
}  # fmt: skip
"""Bits per number, by type name."""
GGUF_BLOCKS = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 36), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36), 41: ("Q1_0", 128, 18),
}  # fmt: skip
"""By ggml's type number: the type's name, the numbers in a block, and the bytes in a block."""


class Tensor(NamedTuple):
    """A tensor's place in a file: `size` bytes from `offset` on. The shape is row-major: the fastest axis is last."""

    name: str
    type: str
    shape: tuple[int, ...]
    path: Path
    offset: int
    size: int


def safetensors_tensors(path: Path) -> list[Tensor]:
    """Return the tensors of a safetensors file, in the order of its header. Raises ModelFileError."""
    try:
        size, header, start = _safetensors_header(path)
        entries = [(name, header.data[name]) for name in header.data if name != "__metadata__"]
        if not entries:
            raise ModelFileError(f"{path} has no tensors: {AGAIN}")
        return [_safetensors_tensor(header, name, entry, start, size) for name, entry in entries]
    except (TokenizerFileError, OSError) as error:
        raise ModelFileError(str(error)) from error
    except MemoryError as error:
        raise ModelFileError(f"{path}: the header asks for more memory than there is: {AGAIN}") from error


def safetensors_metadata(path: Path) -> dict[str, str]:
    """Return a safetensors file's metadata, {} if it has none. Raises ModelFileError."""
    try:
        _, header, _ = _safetensors_header(path)
        found = header.expect(header.data.get("__metadata__", {}), dict, "__metadata__")
        return {key: header.expect(value, str, f"__metadata__.{key[:40]}") for key, value in found.items()}
    except (TokenizerFileError, OSError) as error:
        raise ModelFileError(str(error)) from error


def _safetensors_header(path: Path) -> tuple[int, JSONFile, int]:
    """Return the file's size, its header, and the offset where the numbers start."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(32)
        refuse_foreign_file(path, start)
        length = int.from_bytes(start[:8], "little")
        if len(start) < 10 or length > min(size - 8, LONGEST_HEADER):
            problem = f"says that its header has {length:,} bytes" if len(start) >= 8 else "has no header"
            raise ModelFileError(f"{path} {problem}, but the file has {size:,}: it is truncated or damaged; {AGAIN}")
        file.seek(8)
        return size, JSONFile(path, file.read(length)), 8 + length


def _safetensors_tensor(header: JSONFile, name: str, entry: Any, start: int, size: int) -> Tensor:
    where = f"the tensor {name[:80]!r}"
    found = header.expect(entry, dict, where)
    kind = header.expect(found.get("dtype"), str, f"{where}.dtype")
    if kind not in SAFETENSORS_BITS:
        raise header.wrong(f"{where}.dtype", f"the type {kind[:40]!r} is unknown")
    shape = _counts(header, found.get("shape"), f"{where}.shape")
    span = _counts(header, found.get("data_offsets"), f"{where}.data_offsets")
    if len(span) != 2 or span[0] > span[1]:
        raise header.wrong(f"{where}.data_offsets", "expected the offsets where its numbers begin and end")
    byte_count, needed = span[1] - span[0], prod(shape) * SAFETENSORS_BITS[kind]
    if byte_count * 8 != needed:
        raise header.wrong(where, f"its shape needs {needed // 8:,} bytes, but it has {byte_count:,}; {AGAIN}")
    if start + span[1] > size:
        raise header.wrong(where, f"ends at byte {start + span[1]:,} of {size:,}: the file is truncated; {AGAIN}")
    return Tensor(name, kind, tuple(shape), header.path, start + span[0], byte_count)


def _counts(header: JSONFile, value: Any, where: str) -> list[int]:
    """Return `value`, checked to be a short list of whole numbers from 0 to 2**63 - 1."""
    found = header.expect(value, list, where)
    if len(found) > 16 or not all(type(item) is int and 0 <= item < 1 << 63 for item in found):
        raise header.wrong(where, f"expected whole numbers, found {short_repr(value)}")
    return found


def gguf_tensors(path: Path) -> tuple[GGUFFile, list[Tensor]]:
    """Return the header of a GGUF file and its tensors, in the order of the file. Raises ModelFileError."""
    try:
        with open_file(path) as file:
            refuse_foreign_file(path, file.read(32))
            size = os.fstat(file.fileno()).st_size
        header = read_metadata(path)
    except (TokenizerFileError, OSError) as error:
        raise ModelFileError(f"{error}: {AGAIN}") from error
    except MemoryError as error:
        raise ModelFileError(f"{path}: the header asks for more memory than there is: {AGAIN}") from error
    seen: set[str] = set()
    tensors = []
    for info in header.tensors:
        where = f"{path}: the tensor {info.name[:80]!r}"
        if info.name in seen:
            raise ModelFileError(f"{where} occurs twice: {AGAIN}")
        seen.add(info.name)
        if info.type not in GGUF_BLOCKS:
            raise ModelFileError(f"{where} has ggml's type {info.type}, which is unknown: {AGAIN}")
        kind, block, bytes_of_block = GGUF_BLOCKS[info.type]
        count = prod(info.shape)
        if not count or (info.shape[:1] and info.shape[0] % block):
            raise ModelFileError(f"{where} has the shape {info.shape}, which {kind} can't hold: {AGAIN}")
        byte_count, start = count // block * bytes_of_block, header.data_start + info.offset
        if start + byte_count > size:
            raise ModelFileError(
                f"{where} ends at byte {start + byte_count:,} of {size:,}: the file is truncated; {AGAIN}"
            )
        tensors.append(Tensor(info.name, kind, info.shape[::-1], path, start, byte_count))
    return header, tensors
