"""Validate arguments: whole numbers, of Python or of NumPy, names from a list, and containers of texts."""

from __future__ import annotations

from collections.abc import Mapping
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


def refuse_keyed(value: object, what: str) -> None:
    """Raise TypeError for a dict or a table: who iterates over it gets keys, columns or rows, and no texts.

    >>> refuse_keyed({"text": ["low", "lower"]}, "the corpus")
    Traceback (most recent call last):
      ...
    TypeError: the corpus is a dict, whose items are no texts: pick these, as in data["text"] or data["train"]["text"]
    """
    if isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "column_names"):
        raise TypeError(
            f"{what} is a {type(value).__name__}, whose items are no texts: pick these, as in "
            'data["text"] or data["train"]["text"]'
        )
