"""Arrays behind one number: tuples of arrays, written down as addresses and sizes, from which kernels make them again.

numba takes some 40 ns for each array that a call hands over, which for the twenty of an encoder is as long as a short
text takes. A kernel that is given the address of such a table reads what it needs from there; the arrays that it makes
are those that it was compiled for, so inner kernels see no difference. Who makes a table keeps its arrays alive.

Chapter: Compiled. Cost: a load for each field that a kernel uses.
"""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import numpy_support

INT64 = ir.IntType(64)


def numbers(value: Any) -> Iterator[int]:
    """What is written down for a tuple: of each array in it the address and the shape, and of a number the number.

    >>> list(numbers((7, (np.empty((2, 3)), True))))[2:]
    [2, 3, 1]
    """
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("kernels read arrays without gaps")
        yield value.ctypes.data
        yield from value.shape
    elif isinstance(value, tuple):
        for item in value:
            yield from numbers(item)
    else:
        yield int(value)


def kind(value: Any) -> Any:
    """numba's type of such a tuple; whether an array may be written to makes no difference."""
    if isinstance(value, np.ndarray):
        return types.Array(numpy_support.from_dtype(value.dtype), value.ndim, "C")
    if isinstance(value, tuple):
        return types.NamedTuple([kind(item) for item in value], type(value))
    return typeof(value)


def view_of(kinds: Callable[[], Any]) -> Any:
    """A function for kernels: from the address of what `numbers` gave to the tuple, of the type that `kinds` gives."""

    @intrinsic
    def view(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            base, place = builder.inttoptr(arguments[0], INT64.as_pointer()), count()
            return _read(context, builder, signature.return_type, lambda: _number(builder, base, next(place)))

        return kinds()(address), generate

    return view


def _number(builder: Any, base: Any, place: int) -> Any:
    return builder.load(builder.gep(base, [INT64(place)]))


def _read(context: Any, builder: Any, made: Any, number: Callable[[], Any]) -> Any:
    if isinstance(made, types.NamedTuple):
        return context.make_tuple(builder, made, [_read(context, builder, item, number) for item in made])
    if not isinstance(made, types.Array):
        return context.cast(builder, number(), types.int64, made)
    from numba.np.arrayobj import populate_array  # which takes as long to import as a vocabulary to load

    array = context.make_array(made)(context, builder)
    data = builder.inttoptr(number(), context.get_data_type(made.dtype).as_pointer())
    shape, item = [number() for _ in range(made.ndim)], context.get_abi_sizeof(context.get_data_type(made.dtype))
    strides = [INT64(item)]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(size, strides[0]))
    populate_array(array, data, shape, strides, INT64(item), None)
    return array._getvalue()


def _array_at(typing_context: Any, address: Any, size: Any, like: Any) -> Any:
    """The array of `size` numbers of a type at an address."""
    made = types.Array(like.dtype, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = iter(arguments)
        return _read(context, builder, made, lambda: next(given))

    return made(address, size, like), generate


array_at: Any = intrinsic(_array_at)


def _call_at(typing_context: Any, function: Any, given: Any) -> Any:
    """Call the C function at an address; what it is given, a tuple, and what it gives are numbers of 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = cgutils.unpack_tuple(builder, arguments[1])
        kind = ir.FunctionType(INT64, [INT64] * len(values))
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), values)

    return types.int64(function, given), generate


call_at: Any = intrinsic(_call_at)
