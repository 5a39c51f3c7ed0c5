"""Loads and stores that Python has no word for, written for LLVM.

None of them looks whether a place is inside its array: who calls them has made sure of it. Chapter: Compiled. Source:
LLVM's language reference; numba's `extending.intrinsic`.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic


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


def ask(builder: Any, pointer: Any) -> None:
    """Have the memory at a pointer fetched, which need not be valid."""
    int32, place = ir.IntType(32), builder.bitcast(pointer, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [place.type, int32, int32, int32])
    function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
    builder.call(function, [place, int32(0), int32(3), int32(1)])


def _prefetch(typing_context: Any, array: Any, offset: Any) -> Any:
    """Ask for the memory of an element of an array of numbers of 64 bits, which is needed soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        ask(builder, builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, offset), generate


prefetch: Any = intrinsic(_prefetch)


def _lowest_of_16(typing_context: Any, array: Any, offset: Any) -> Any:
    """The smallest of the 16 numbers of 32 bits from `offset` on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        number = ir.IntType(32)
        sixteen = ir.VectorType(number, 16)
        loaded = builder.load(builder.bitcast(builder.gep(data, [arguments[1]]), sixteen.as_pointer()), align=4)
        name = "llvm.vector.reduce.umin.v16i32"
        return builder.call(get_or_insert_function(builder.module, ir.FunctionType(number, [sixteen]), name), [loaded])

    return types.uint32(array, offset), generate


lowest_of_16: Any = intrinsic(_lowest_of_16)


def _trailing_zeros(typing_context: Any, number: Any) -> Any:
    """How many of the 64 bits of a number are 0 below the lowest 1."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), generate


trailing_zeros: Any = intrinsic(_trailing_zeros)


def _leading_zeros(typing_context: Any, number: Any) -> Any:
    """How many of the 64 bits of a number are 0 above the highest 1."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), generate


leading_zeros: Any = intrinsic(_leading_zeros)
