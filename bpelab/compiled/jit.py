"""numba, set up alike for every kernel, and the loads and stores that Python has no word for.

Kernels let go of the interpreter's lock, are compiled once and kept on disk. Chapter: Compiled.
"""

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import sigutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from .kernel_cache import keep

F = TypeVar("F", bound=Callable[..., Any])
U64 = np.uint64
PAD = 16
"""Bytes behind every text that kernels may read, and never look at."""


def kernel(function: F) -> F:
    """Compiled, kept on disk, and run without the interpreter's lock."""
    compiled: Any = njit(nogil=True, error_model="numpy")(function)
    kept: F = keep(compiled)
    return kept


def inlined(function: F) -> F:
    """As `kernel`, for what is called at every token: its code is copied to where it is called."""
    compiled: Any = njit(nogil=True, error_model="numpy", forceinline=True)(function)
    inline: F = compiled
    return inline


class Loaded:
    """A kernel for one signature, which Python asks for once: compiled, or from the disk, where it is first needed.

    numba's own way to a kernel finds out the types of what it is given at each call, and begins by importing all
    packages that extend numba, which may take longer than a text.
    """

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def __call__(self) -> Any:
        """What Python calls; of a `c_function` the address."""
        loaded = self._load()
        self._load = lambda: loaded
        return loaded


def entry(signature: Any) -> Callable[[Callable[..., Any]], Loaded]:
    """A kernel that Python calls with exactly these types, and that keeps the interpreter's lock."""

    def compiled(function: Callable[..., Any]) -> Loaded:
        kept = keep(njit(error_model="numpy")(function))
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


def _load64(typing_context: Any, array: Any, offset: Any) -> Any:
    """The eight bytes of an array of bytes from `offset`, as one number; aligned or not."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        loaded = builder.load(pointer)
        loaded.align = 1
        return loaded

    return types.uint64(array, offset), generate


load64: Any = intrinsic(_load64)


def _copy_four(typing_context: Any, rows: Any, source: Any, out: Any, place: Any) -> Any:
    """Copy two numbers of 64 bits, from `source` on, over four of 32 bits, from `place` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        four = ir.VectorType(ir.IntType(32), 4).as_pointer()
        pointers = []
        for kind, array, at in zip(signature.args[::2], arguments[::2], arguments[1::2]):
            data = context.make_array(kind)(context, builder, array).data
            pointers.append(builder.bitcast(builder.gep(data, [at]), four))
        builder.store(builder.load(pointers[0], align=4), pointers[1], align=4)
        return context.get_dummy_value()

    return types.void(rows, source, out, place), generate


copy_four: Any = intrinsic(_copy_four)


def _run_of_letters(typing_context: Any, text: Any, start: Any, fold: Any) -> Any:
    """How many of the 16 bytes from `start` are a to z before another comes; A to Z too if `fold` is 32, not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at, fold = arguments
        byte, mask = ir.IntType(8), ir.IntType(16)
        sixteen = ir.VectorType(byte, 16)

        def all_of(number: Any) -> Any:
            one = builder.insert_element(ir.Constant(sixteen, ir.Undefined), number, ir.IntType(32)(0))
            return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), 16), [0] * 16))

        data = context.make_array(signature.args[0])(context, builder, array).data
        pointer = builder.bitcast(builder.gep(data, [at]), sixteen.as_pointer())
        lower = builder.or_(builder.load(pointer, align=1), all_of(builder.trunc(fold, byte)))
        letters = builder.icmp_unsigned("<", builder.sub(lower, all_of(byte(ord("a")))), all_of(byte(26)))
        others = builder.zext(builder.not_(builder.bitcast(letters, mask)), ir.IntType(64))
        return builder.cttz(builder.or_(others, ir.IntType(64)(1 << 16)), ir.IntType(1)(0))

    return types.int64(text, start, fold), generate


run_of_letters: Any = intrinsic(_run_of_letters)


def _store64(typing_context: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write a number as the eight bytes of an array of bytes from `offset` on; aligned or not."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(64).as_pointer())
        builder.store(arguments[2], pointer).align = 1
        return context.get_dummy_value()

    return types.void(array, offset, types.uint64), generate


store64: Any = intrinsic(_store64)


def _prefetch(typing_context: Any, array: Any, offset: Any) -> Any:
    """Ask for the memory of an element of an array of numbers of 64 bits, which is needed soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pointer = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        int32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, int32, int32, int32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, int32(0), int32(3), int32(1)])
        return context.get_dummy_value()

    return types.void(array, offset), generate


prefetch: Any = intrinsic(_prefetch)


def _borrowed(typing_context: Any, arrays: Any) -> Any:
    """A tuple of arrays without their counts of references, which cost as much as the work where pieces are short.

    For as long as a kernel runs its caller holds the arrays.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (members,) = arguments
        for place, kind in enumerate(signature.args[0].types):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, builder.extract_value(members, place))
                array.meminfo = ir.Constant(array.meminfo.type, None)
                members = builder.insert_value(members, array._getvalue(), place)
        return members

    return arrays(arrays), generate


borrowed: Any = intrinsic(_borrowed)


@inlined
def first_bytes(text, start, count):
    """The `count` bytes from `start`, 1 to 8 of them, as a number."""
    return load64(text, start) & (U64(0xFFFFFFFFFFFFFFFF) >> U64(64 - 8 * count))


@inlined
def spread(key):
    """A number of 64 bits, mixed into one whose upper bits are good (Knuth's multiplicative hashing)."""
    return key * U64(0x9E3779B97F4A7C15)


@inlined
def hash_pair(low, high):
    """Two numbers of 64 bits, mixed into one whose upper bits are good."""
    return spread(low ^ (high * U64(0xFF51AFD7ED558CCD)))


@inlined
def hash_bytes(text, start, end):
    """The bytes from start to end, mixed into a number, eight at a time."""
    mixed = spread(U64(end - start))
    while start + 8 <= end:
        mixed = (mixed ^ load64(text, start)) * U64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> U64(32)
        start += 8
    if start < end:
        mixed = (mixed ^ first_bytes(text, start, end - start)) * U64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> U64(32)
    return spread(mixed)


@inlined
def has_bit(bits, at):
    """Whether a bit is set in an array of bytes."""
    return (bits[at >> 3] >> (at & 7)) & 1 != 0


@inlined
def set_bit(bits, at):
    bits[at >> 3] |= np.uint8(1 << (at & 7))


@inlined
def same_bytes(one, at, other, there, count):
    """Whether two arrays have the same `count` bytes at two places."""
    done = 0
    while done + 8 <= count:
        if load64(one, at + done) != load64(other, there + done):
            return False
        done += 8
    return done == count or first_bytes(one, at + done, count - done) == first_bytes(other, there + done, count - done)
