"""Byte sizes on a command line: plain numbers of bytes, or 500M, 8G."""

import argparse

UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
"""Each unit as a power of two."""


def size_in_bytes(text: str) -> int:
    """Convert an argument to a number of bytes. Raises ArgumentTypeError for anything else.

    >>> size_in_bytes("8G") == 8 * 2**30 == size_in_bytes("8589934592")
    True
    """
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in UNITS else (text, "")
    if not number.isdecimal() or not number.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} is no size: write a number of bytes, or 500M, 8G, 1T")
    return int(number) << UNITS[unit]
