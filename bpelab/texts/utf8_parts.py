"""UTF-8 that arrives in parts: the text of what is there, without half a character at the end.

Chapter: Streaming. Cost: linear.
"""

import codecs


def utf8_text(begun: bytes, more: bytes) -> tuple[bytes, str]:
    """Return (the beginning of a character at the end of `begun` + `more`, the text before it).

    What can't become a character any more is U+FFFD at once, so that nothing ever waits for a byte in vain.

    >>> utf8_text(b"\\xe2\\x82", b"\\xac\\xc3"), utf8_text(b"", b"\\xff\\xed\\xa0")
    ((b'\\xc3', '€'), (b'', '\ufffd\ufffd\ufffd'))
    """
    data = begun + more
    text, used = codecs.utf_8_decode(data, "replace", False)
    rest = data[used:]
    if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0":  # half a surrogate pair, which Python takes for unfinished
        return b"", text + rest.decode("utf-8", "replace")
    return rest, text
