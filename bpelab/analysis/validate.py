"""Validation of the caller's numbers: finite, not negative, and an integer where a fraction makes no sense.

Chapter: Measuring.
"""

import sys

from ..errors import BPELabError


def require_number(name: str, value: float, *, above: bool = False) -> float:
    """Return `value` if it is finite and at least 0 (with `above`, more than 0). Raises BPELabError with `name`.

    >>> require_number("rate", 2.5)
    2.5
    """
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max
    if not good or (above and not value):
        raise BPELabError(f"{name} must be a finite number, {'above 0' if above else '0 or more'}, not {value!r}")
    return value


def require_integer(name: str, value: int, least: int = 1) -> int:
    """Return `value` if it is an integer from `least` to 10**15. Raises BPELabError with `name`.

    >>> require_integer("layers", 2)
    2
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 10**15:
        raise BPELabError(f"{name} must be an integer from {least} to 10**15, not {value!r}")
    return value
