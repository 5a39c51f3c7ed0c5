"""UTF-8 read byte by byte: whether some bytes are a character, the beginning of one, or neither."""

from functools import lru_cache


@lru_cache(1 << 16)
def character(data: bytes) -> str | None:
    """Return the character that the bytes are, "" if they are the beginning of one, or None.

    >>> character(b"\\xc3\\xa9"), character(b"\\xc3"), character(b"\\xa9")
    ('é', '', None)
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return "" if error.reason == "unexpected end of data" else None
