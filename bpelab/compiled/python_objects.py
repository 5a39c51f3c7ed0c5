"""Python's own objects in kernels: the characters of a str, and a list of ints made of ids.

A kernel that uses these must hold the interpreter's lock. Chapter: Compiled. Source: Python's C API.
"""

import ctypes
import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, box, intrinsic, models, register_model, unbox

from .intrinsics import ask

INT64 = ir.IntType(64)


class PythonObject(types.Opaque):
    """Any object, handed over as it is."""

    def __init__(self) -> None:
        super().__init__(name="PythonObject")


python_object = PythonObject()
register_model(PythonObject)(models.OpaqueModel)


@unbox(PythonObject)  # type: ignore[untyped-decorator]
def _unbox(typ: Any, value: Any, c: Any) -> Any:
    return NativeValue(value)


@box(PythonObject)  # type: ignore[untyped-decorator]
def _box(typ: Any, value: Any, c: Any) -> Any:
    return value


def _characters(typing_context: Any, text: Any) -> Any:
    """(address, number of characters, bytes of each) of a str, which the caller has made sure that it is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        api = context.get_python_api(builder)
        _, data, length, width, ascii_only, _ = api.string_as_string_size_and_kind(arguments[0])
        parts = [builder.ptrtoint(data, INT64), length, builder.zext(width, INT64), builder.zext(ascii_only, INT64)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(types.int64, 4)(text), generate


characters: Any = intrinsic(_characters)


def _nothing(typing_context: Any) -> Any:
    """None."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_python_api(builder).make_none()

    return python_object(), generate


nothing: Any = intrinsic(_nothing)


def _items_offset() -> int | None:
    """Where a list has the address of its items, as C extensions know it; None if they don't stand there."""
    offset, probe = list.__basicsize__ - 2 * ctypes.sizeof(ctypes.c_void_p), [object()]
    items = ctypes.c_void_p.from_address(id(probe) + offset).value
    if items and ctypes.string_at(items, 8) == id(probe[0]).to_bytes(8, sys.byteorder):
        return offset
    return None


ITEMS = _items_offset() if sys.implementation.name == "cpython" else None
AHEAD = 16
"""Ints between asking for one and counting a reference to it: they stand anywhere."""


def _list_of(typing_context: Any, ids: Any, count: Any, made: Any, most: Any) -> Any:
    """A list of `count` ints, whose values stand at the address `ids` in 32 bits each.

    `made` is the address of an array of objects, one for each value below `most`: None, or the int, which is put there
    when it is first needed. An int that is there costs a quarter of one that has to be made.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        api = context.get_python_api(builder)
        values = builder.inttoptr(arguments[0], ir.IntType(32).as_pointer())
        known = builder.inttoptr(arguments[2], api.pyobj.as_pointer())
        found = api.list_new(arguments[1])
        none = api.borrow_none()
        item = cgutils.alloca_once(builder, api.pyobj)
        last = builder.sub(arguments[1], INT64(1))

        def put(index: Any, value: Any) -> None:
            if ITEMS is None:
                api.list_setitem(found, index, value)
                return
            place = cgutils.pointer_add(builder, found, ITEMS, api.pyobj.as_pointer().as_pointer())
            builder.store(value, builder.gep(builder.load(place), [index]))

        with (
            builder.if_then(cgutils.is_not_null(builder, found), likely=True),
            cgutils.for_range(builder, arguments[1]) as loop,
        ):
            later = builder.add(loop.index, INT64(AHEAD))
            later = builder.select(builder.icmp_signed("<", later, last), later, last)
            later_value = builder.zext(builder.load(builder.gep(values, [later])), INT64)
            later_value = builder.select(builder.icmp_signed("<", later_value, arguments[3]), later_value, INT64(0))
            ask(builder, builder.load(builder.gep(known, [later_value])))
            value = builder.zext(builder.load(builder.gep(values, [loop.index])), INT64)
            with builder.if_else(builder.icmp_signed("<", value, arguments[3])) as (kept, rare):
                with kept:
                    place = builder.gep(known, [value])
                    there = builder.load(place)
                    with builder.if_else(builder.icmp_unsigned("==", there, none)) as (first, again):
                        with first:
                            made_now = api.long_from_longlong(value)
                            builder.store(made_now, item)
                            with builder.if_then(cgutils.is_not_null(builder, made_now), likely=True):
                                builder.store(made_now, place)
                                api.incref(made_now)
                                api.decref(none)
                        with again:
                            builder.store(there, item)
                            api.incref(there)
                with rare:
                    builder.store(api.long_from_longlong(value), item)
            put(loop.index, builder.load(item))
        return found

    return python_object(ids, count, made, most), generate


list_of: Any = intrinsic(_list_of)
