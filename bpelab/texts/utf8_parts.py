"""Decode UTF-8 that arrives in parts, keeping an incomplete character at the end.

Chapter: Streaming. Cost: linear.
"""

import codecs


def utf8_text(incomplete: bytes, more: bytes) -> tuple[bytes, str]:
    """Return (the incomplete character at the end of `incomplete` + `more`, the text before it).

    Bytes that can no longer become a character are U+FFFD at once, so nothing waits for a byte in vain.

    >>> utf8_text(b"\\xe2\\x82", b"\\xac\\xc3"), utf8_text(b"", b"\\xff\\xed\\xa0")
    ((b'\\xc3', '€'), (b'', '\ufffd\ufffd\ufffd'))
    """
    data = incomplete + more
    text, used = codecs.utf_8_decode(data, "replace", False)
    rest = data[used:]
    if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0":  # half a surrogate pair, which Python treats as incomplete
        return b"", text + rest.decode("utf-8", "replace")
    return rest, text
