"""Convert whatever a reader's function returned into plain data that can be compared and shown without surprises.

Lists, tuples, dicts, sets, text, bytes and numbers keep their types, and subclasses become their base class (a Counter
becomes a dict). NumPy arrays become lists. Anything else becomes an `Opaque`: it equals nothing and has a name. So the
reader's `__eq__` and `__repr__` are never called, and the size of the data is bounded.
"""

from collections.abc import Iterator
from itertools import islice
from types import CoroutineType, GeneratorType
from typing import Any

MAX_ITEMS = 20_000
MAX_DEPTH = 50


class Opaque:
    """A value that can't be compared with an answer, such as a generator; `name` says what it is."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


class _TooLarge(Exception):
    pass


def to_plain(value: Any) -> Any:
    """Convert `value` to plain data.

    >>> from collections import Counter
    >>> to_plain(Counter("aab")), to_plain(iter([1]))
    ({'a': 2, 'b': 1}, <an iterator>)
    """
    budget = iter(range(MAX_ITEMS))
    try:
        return _convert(value, budget, 0)
    except _TooLarge:
        return Opaque(f"something with more than {MAX_ITEMS:,} parts, or nested more than {MAX_DEPTH} deep")


def to_list(value: Any) -> Any:
    """Return the first MAX_ITEMS items of an iterator as a list, and any other value unchanged.

    >>> to_list(x for x in "ab"), to_list("ab")
    (['a', 'b'], 'ab')
    """
    return list(islice(value, MAX_ITEMS)) if isinstance(value, Iterator) else value


def _convert(value: Any, budget: Iterator[int], depth: int) -> Any:
    if next(budget, None) is None or depth > MAX_DEPTH:
        raise _TooLarge

    def convert(item: Any) -> Any:
        return _convert(item, budget, depth + 1)

    kind: type = type(value)
    if kind.__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        return convert(value.tolist())
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
        return [convert(item) for item in list.__iter__(value)]
    if issubclass(kind, tuple):
        return tuple(convert(item) for item in tuple.__iter__(value))
    if issubclass(kind, dict):
        return {_hashable(convert(key)): convert(item) for key, item in dict.items(value)}
    if issubclass(kind, (set, frozenset)):
        members = set.__iter__(value) if issubclass(kind, set) else frozenset.__iter__(value)
        return {_hashable(convert(item)) for item in members}
    return Opaque(_name(value, kind))


def _hashable(key: Any) -> Any:
    return Opaque("a nested set") if isinstance(key, set) else key


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
