"""Tokens in Base64 with their ranks, as `.tiktoken`, tiktoken's JSON files for JavaScript and tekken.json list them.

Base64 spells bytes in ASCII letters, so a text file can hold tokens that are not UTF-8. The caller gives each token's
position (a line, a key), and words the error for one that is wrong.

Chapter: File formats. Source: RFC 4648, section 4.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ..errors import TokenizerFileError

MAX_RANK = (1 << 32) - 1
"""tiktoken holds a rank in 32 bits."""
Position = TypeVar("Position", int, str)
Encoded = TypeVar("Encoded", bytes, str)


def decode_tokens(
    entries: Iterable[tuple[Position, Encoded, int]], not_base64: Callable[[Position, Encoded], TokenizerFileError]
) -> Iterator[tuple[Position, bytes, int]]:
    """Yield (position, token, rank) for each (position, token in Base64, rank), one at a time, in order.

    Raises `not_base64(position, encoded)` for the first token that isn't Base64. Time O(bytes).

    >>> list(decode_tokens([("line 1", "YWI=", 5)], lambda line, text: TokenizerFileError("f", line, text)))
    [('line 1', b'ab', 5)]
    """
    for position, encoded, rank in entries:
        try:
            token = base64.b64decode(encoded, validate=True)
        except (ValueError, binascii.Error):  # a ValueError for characters that are not ASCII
            raise not_base64(position, encoded) from None
        yield position, token, rank
