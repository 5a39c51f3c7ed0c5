"""Rows of quantized matrices as numbers, and back: by the gguf library, and for K-quants by llama.cpp's own quantizer.

ggml quantizes each row of a matrix on its own, in blocks of 32 or 256 numbers. So a row can be copied as it is stored,
and a new row can be computed and quantized without touching any other. The gguf library reads every type and writes
the simple ones (Q8_0, Q4_0 ...). The others (Q4_K, Q6_K ...) are written by a function of llama.cpp, which
llama-cpp-python brings.

Chapter: New words for an old model. Cost: linear. Source: ggml's `ggml_quantize_chunk`; gguf's `quants.py`.
"""

from ctypes import c_int64, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from ..chat.backends.errors import import_extra
from ..chat.models.tensor_headers import GGUF_BLOCKS
from ..errors import ModelFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

BY_LLAMA_CPP = ("Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS")
"""Types that gguf can't write and llama.cpp can, without statistics of the model's activations."""
CODES = {name: code for code, (name, _, _) in GGUF_BLOCKS.items()}
"""The name of a type -> its number in ggml."""


def dequantize(stored: "NDArray[Any]", kind: str) -> "NDArray[np.float64]":
    """Return the numbers of quantized rows, given as bytes. Raises MissingDependencyError without gguf."""
    gguf = import_extra("gguf", "llama")
    numbers: NDArray[np.float64] = gguf.quants.dequantize(stored, gguf.GGMLQuantizationType[kind]).astype(np.float64)
    return numbers


def quantize(numbers: "NDArray[np.float64]", kind: str) -> "NDArray[Any]":
    """Return rows quantized to a type, as bytes. Raises ModelFileError for a type that rows can't be written in."""
    gguf = import_extra("gguf", "llama")
    rows = np.ascontiguousarray(numbers, np.float32)
    if kind in BY_LLAMA_CPP:
        return _by_llama_cpp(rows, kind)
    try:
        quantized: NDArray[Any] = gguf.quants.quantize(rows, gguf.GGMLQuantizationType[kind])
    except NotImplementedError as error:
        raise ModelFileError(
            f"rows of the type {kind} can't be made from numbers: quantize the model so that its token embedding has "
            "another type, with llama-quantize --token-embedding-type q8_0 --output-tensor-type q8_0"
        ) from error
    return quantized


def check_quantizes(kind: str) -> None:
    """Raise the error that `quantize` would raise, before anything is written."""
    quantize(np.zeros((1, GGUF_BLOCKS[CODES[kind]][1])), kind)


def _by_llama_cpp(rows: "NDArray[np.float32]", kind: str) -> "NDArray[Any]":
    import_extra("llama_cpp", "llama")
    quantize_chunk = import_extra("llama_cpp._ggml", "llama").libggml.ggml_quantize_chunk
    quantize_chunk.restype = c_size_t
    _, block, size = GGUF_BLOCKS[CODES[kind]]
    width = rows.shape[-1]
    out = np.empty((*rows.shape[:-1], width // block * size), np.uint8)
    written = quantize_chunk(
        CODES[kind], c_void_p(rows.ctypes.data), c_void_p(out.ctypes.data), c_int64(0), c_int64(rows.size // width),
        c_int64(width), None,
    )  # fmt: skip
    assert written == out.nbytes, kind
    return out
