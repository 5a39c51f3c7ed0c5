"""A whole number that a caller gave, of Python or of NumPy."""

from operator import index


def whole_number(name: str, value: object) -> int:
    """`value` as an int. Raises TypeError naming the argument for what is no integer, booleans among them.

    >>> whole_number("limit", 2.5)
    Traceback (most recent call last):
      ...
    TypeError: limit must be an integer, not 2.5
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    return index(value)
