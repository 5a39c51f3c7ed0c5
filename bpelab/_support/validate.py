"""Validate arguments: whole numbers, of Python or of NumPy, and names from a list."""

from __future__ import annotations

from operator import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def whole_number(name: str, value: object) -> int:
    """`value` as an int. Raises TypeError naming the argument if it is not an integer, or is a boolean.

    >>> whole_number("limit", 2.5)
    Traceback (most recent call last):
      ...
    TypeError: limit must be an integer, not 2.5
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    return index(value)


def check_name(value: object, what: str, known: Any) -> str:
    """`value`, if it is one of `known`. Raises ValueError."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{what} is one of {', '.join(map(repr, known))}, not {value!r}")
    return value


def check_size(value: object, what: str, least: int = 0) -> None:
    """Raise ValueError for anything but an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{what} is a number from {least} up, not {value!r}")
