"""Turn whatever a reader's function returned into plain data that can be compared and shown without surprises.

Lists, tuples, dicts, sets, text, bytes and numbers stay what they are, and so do what inherits from them (a Counter
becomes a dict). NumPy arrays become lists. Anything else becomes a `Thing`: it equals nothing and has a name. So no
`__eq__` and no `__repr__` of the reader's is ever called, and nothing is larger than can be handled.
"""

from collections.abc import Iterator
from itertools import islice
from types import CoroutineType, GeneratorType
from typing import Any

LARGEST = 20_000
DEEPEST = 50


class Thing:
    """What can't be compared with an answer, such as a generator; `name` says what it is."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


class _TooLarge(Exception):
    pass


def plain(value: Any) -> Any:
    """`value` as plain data.

    >>> from collections import Counter
    >>> plain(Counter("aab")), plain(iter([1]))
    ({'a': 2, 'b': 1}, <an iterator>)
    """
    room = iter(range(LARGEST))
    try:
        return _plain(value, room, 0)
    except _TooLarge:
        return Thing(f"something with more than {LARGEST:,} parts, or nested more than {DEEPEST} deep")


def listed(value: Any) -> Any:
    """An iterator's items as a list, with an end even if the iterator has none; other values as they are.

    >>> listed(x for x in "ab"), listed("ab")
    (['a', 'b'], 'ab')
    """
    return list(islice(value, LARGEST)) if isinstance(value, Iterator) else value


def _plain(value: Any, room: Iterator[int], depth: int) -> Any:
    if next(room, None) is None or depth > DEEPEST:
        raise _TooLarge

    def inside(item: Any) -> Any:
        return _plain(item, room, depth + 1)

    kind: type = type(value)
    if kind.__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return inside(value.tolist())
    if value is None or value is Ellipsis or kind in (bool, int, float, complex, str, bytes):
        return value
    if issubclass(kind, int):
        return int.__index__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, (bytes, bytearray, memoryview)):
        return bytes(memoryview(value))
    if issubclass(kind, list):
        return [inside(item) for item in list.__iter__(value)]
    if issubclass(kind, tuple):
        return tuple(inside(item) for item in tuple.__iter__(value))
    if issubclass(kind, dict):
        return {_hashable(inside(key)): inside(item) for key, item in dict.items(value)}
    if issubclass(kind, (set, frozenset)):
        members = set.__iter__(value) if issubclass(kind, set) else frozenset.__iter__(value)
        return {_hashable(inside(item)) for item in members}
    return Thing(_name(value, kind))


def _hashable(key: Any) -> Any:
    return Thing("a nested set") if isinstance(key, set) else key


def _name(value: Any, kind: type) -> str:
    if issubclass(kind, GeneratorType):
        value.close()
        return "a generator"
    if issubclass(kind, CoroutineType):
        value.close()
        return "a coroutine, as `async def` gives"
    if issubclass(kind, range):
        return f"a range, {value!r}"
    if issubclass(kind, type):
        return "a class"
    if callable(value):
        return "a function"
    if issubclass(kind, Iterator):
        return "an iterator"
    return f"an object of the type {kind.__name__}"
