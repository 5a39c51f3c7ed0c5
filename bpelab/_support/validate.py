"""Validate arguments: Python's or NumPy's integers, flags, names from a list, and containers of texts."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from operator import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def whole_number(name: str, value: object) -> int:
    """Return `value` as an int. Raises TypeError naming the argument if it isn't an integer, or is a boolean.

    >>> whole_number("limit", 2.5)
    Traceback (most recent call last):
      ...
    TypeError: limit must be an integer, not 2.5
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    return index(value)


def check_name(value: object, what: str, choices: Any) -> str:
    """Return `value` if it is one of `choices`. Raises ValueError otherwise."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{what} is one of {', '.join(map(repr, choices))}, not {value!r}")
    return value


def check_size(value: object, what: str, least: int = 0) -> None:
    """Raise ValueError for anything but an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{what} is a whole number from {least} up, not {value!r}")


def check_flags(**flags: object) -> None:
    """Raise TypeError naming the first argument that is neither True nor False: "no" would count as true.

    >>> check_flags(tokenize=True, add_special_tokens="no")
    Traceback (most recent call last):
      ...
    TypeError: add_special_tokens is True or False, not 'no'
    """
    for name, value in flags.items():
        if type(value).__name__ not in ("bool", "bool_"):  # numpy's, too
            raise TypeError(f"{name} is True or False, not {value!r}")


def check_errors(errors: object) -> None:
    """Raise ValueError for an unknown error handler, which `bytes.decode` looks up only at an invalid byte.

    >>> check_errors("bogus")
    Traceback (most recent call last):
      ...
    ValueError: errors is "strict", "replace", "ignore" or another of bytes.decode, not 'bogus'
    """
    try:
        codecs.lookup_error(errors)  # type: ignore[arg-type]
    except (LookupError, TypeError):
        raise ValueError(
            f'errors is "strict", "replace", "ignore" or another of bytes.decode, not {errors!r}'
        ) from None


def refuse_keyed(value: object, what: str) -> None:
    """Raise TypeError for a dict or a table: iterating over it gives keys, columns or rows, not texts.

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
