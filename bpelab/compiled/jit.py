"""numba, set up alike for every kernel.

Kernels let go of the interpreter's lock, are compiled once and kept on disk. What is compiled on its own takes some
tenths of a second, however short it is, and as long again for other types of the same values. So all arrays that
kernels are given may be written to (`writable`), a number that kernels hand on is no literal, short functions are
`expanded`, and what is rarely needed is called by its address. Chapter: Compiled.
"""

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite.binding import ffi
from numba.core import sigutils
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numpy.typing import NDArray

from ..forks import forks_take, unforked
from .kernel_cache import keep

F = TypeVar("F", bound=Callable[..., Any])
U64 = np.uint64
njit: Any = numba.njit  # its types leave out some options
forks_take(global_compiler_lock, ffi.lib._lock)  # in the order in which numba takes them; LLVM's has no public name
PAD = 16
"""Bytes behind every text that kernels may read, and never look at."""


def kernel(function: F) -> F:
    """Compiled, kept on disk, and run without the interpreter's lock."""
    compiled: Any = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    # At a first call numba imports all packages that extend it, some of which take longer than training; none is used.
    compiled._compilation_chain_init_hook = lambda: None
    kept: F = keep(compiled)
    return kept


def inlined(function: F) -> F:
    """As `kernel`, for what kernels call at every token: its code is copied to where it is called."""
    compiled: Any = njit(nogil=True, error_model="numpy", forceinline=True, no_cfunc_wrapper=True)(function)
    inline: F = compiled
    return inline


def expanded(function: F) -> F:
    """As `inlined`, for a line or a few: copied before types are known, which is quicker than compiling it alone."""
    compiled: Any = njit(nogil=True, error_model="numpy", inline="always")(function)
    inline: F = compiled
    return inline


def writable(*parts: bytes) -> NDArray[np.uint8]:
    """The bytes of all parts end to end, and PAD behind them, as an array that may be written to."""
    return np.frombuffer(bytearray().join([*parts, bytes(PAD)]), np.uint8)


class Loaded:
    """A kernel for one signature, which Python asks for once: compiled, or from the disk, where it is first needed.

    numba's own way to a kernel finds out the types of what it is given at each call, and begins by importing all
    packages that extend numba, which may take longer than a text.
    """

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def __call__(self) -> Any:
        """What Python calls; of a `c_function` the address."""
        with unforked:
            loaded = self._load()
        self._load = lambda: loaded
        return loaded


def entry(signature: Any) -> Callable[[Callable[..., Any]], Loaded]:
    """A kernel that Python calls with exactly these types, and that keeps the interpreter's lock."""

    def compiled(function: Callable[..., Any]) -> Loaded:
        kept = keep(njit(error_model="numpy", no_cfunc_wrapper=True)(function))
        return Loaded(lambda: kept.compile(signature))

    return compiled


def c_function(signature: Any) -> Callable[[Callable[..., Any]], Loaded]:
    """A kernel that has an address, for kernels that would otherwise each hold a copy of it, and for ctypes."""

    def compiled(function: Callable[..., Any]) -> Loaded:
        kept = keep(CFunc(function, sigutils.normalize_signature(signature), {}, {"error_model": "numpy"}))

        def load() -> int:
            kept.compile()
            address: int = kept.address
            return address

        return Loaded(load)

    return compiled


@lru_cache(None)
def foreign(function: Loaded, arguments: int) -> Callable[..., int]:
    """A `c_function` of so many numbers for Python, called without the interpreter's lock."""
    called: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arguments)(function())
    return called
