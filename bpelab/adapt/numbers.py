"""The numbers in a model's files as arrays: float64, float32, float16, bfloat16, which NumPy lacks, and quantized rows.

A bfloat16 is the upper half of a float32. It is read by appending zeros, and written by rounding to nearest, ties to
even, as processors do. Quantized rows are arrays of bytes (`quantized.py`). Copied rows aren't converted: their bytes
stay as they are.

Chapter: New words for an old model. Cost: linear. Source: the safetensors README for the names of the types.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from .quantized import dequantize, quantize

if TYPE_CHECKING:
    from numpy.typing import NDArray

STORED = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""The types that rows of safetensors can have -> the NumPy type they are stored as."""


def stored_type(kind: str) -> "np.dtype[Any]":
    """Return the NumPy type in which numbers of a type are stored: bytes if they are quantized."""
    return np.dtype(STORED.get(kind, "u1"))


def to_float64(stored: "NDArray[Any]", kind: str) -> "NDArray[np.float64]":
    """Convert stored numbers to float64, exactly.

    >>> to_float64(np.array([0x3F80, 0xC040], np.uint16), "BF16").tolist()
    [1.0, -3.0]
    """
    if kind not in STORED:
        return dequantize(stored, kind)
    if kind == "BF16":
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # for signalling NaNs
        return stored.astype(np.float64)


def from_float64(numbers: "NDArray[np.float64]", kind: str) -> "NDArray[Any]":
    """Convert float64 to a type, rounding to nearest; numbers that are too large become infinite, if the type has that.

    >>> [hex(number) for number in from_float64(np.array([1.0, -3.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8]), "BF16")]
    ['0x3f80', '0xc040', '0x3f80', '0x3f82']
    """
    if kind not in STORED:
        return quantize(numbers, kind)
    with np.errstate(over="ignore", invalid="ignore"):
        if kind != "BF16":
            return numbers.astype(STORED[kind])
        bits = _round_to_odd(numbers).view(np.uint32)
    nan = np.isnan(numbers)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(nan, 0x7FC0, rounded).astype(STORED[kind])


def _round_to_odd(numbers: "NDArray[np.float64]") -> "NDArray[np.float32]":
    """Round float64 to odd, as float32: rounding the result again gives what rounding float64 directly gives.

    Rounding to nearest twice can create a tie that wasn't there. So the bits that don't fit a float32 are cut off, and
    its last bit is set to record that there were some.
    """
    near = numbers.astype(np.float32)
    bits = near.view(np.uint32)
    inexact = np.isfinite(near) & (near.astype(np.float64) != numbers)
    away = inexact & (np.abs(near.astype(np.float64)) > np.abs(numbers))
    return np.where(inexact, (bits - away) | 1, bits).astype(np.uint32).view(np.float32)
