"""The numbers of a model's files as arrays: float64, float32, float16 and bfloat16, which NumPy doesn't have.

A bfloat16 is the upper half of a float32. It is read by appending zeros, and written by rounding to the nearest, ties
to the even one, as processors do. Rows that are copied never come here: their bytes stay as they are.

Chapter: New words for an old model. Cost: linear. Source: the safetensors README for the names of the types.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

STORED = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""The types that rows can be made of, as NumPy calls what is stored."""


def to_float64(stored: "NDArray[Any]", kind: str) -> "NDArray[np.float64]":
    """Return stored numbers of a type of STORED as float64, exactly.

    >>> to_float64(np.array([0x3F80, 0xC040], np.uint16), "BF16").tolist()
    [1.0, -3.0]
    """
    if kind == "BF16":
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # of NaNs that a processor would signal
        return stored.astype(np.float64)


def from_float64(numbers: "NDArray[np.float64]", kind: str) -> "NDArray[Any]":
    """Return float64 as numbers of a type of STORED, rounded to the nearest; what is too large becomes infinite.

    >>> [hex(number) for number in from_float64(np.array([1.0, -3.0, 1 + 2.0**-8, 1 + 3 * 2.0**-8]), "BF16")]
    ['0x3f80', '0xc040', '0x3f80', '0x3f82']
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if kind != "BF16":
            return numbers.astype(STORED[kind])
        bits = _round_to_odd(numbers).view(np.uint32)
    nan = np.isnan(numbers)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(nan, 0x7FC0, rounded).astype(STORED[kind])


def _round_to_odd(numbers: "NDArray[np.float64]") -> "NDArray[np.float32]":
    """Return float32 that, rounded once more, are what float64 rounded at once would be.

    Rounding twice to the nearest can fall on a tie that was none. So what a float32 can't hold is cut off, and its last
    bit set, which says that there was more.
    """
    near = numbers.astype(np.float32)
    bits = near.view(np.uint32)
    inexact = np.isfinite(near) & (near.astype(np.float64) != numbers)
    away = inexact & (np.abs(near.astype(np.float64)) > np.abs(numbers))
    return np.where(inexact, (bits - away) | 1, bits).astype(np.uint32).view(np.float32)
