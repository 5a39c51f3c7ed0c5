"""From ids back to bytes and text.

Tokens are bytes, and a character may spread over several tokens, so bytes are joined first and then decoded. An id
outside the vocabulary is an error unless the caller says how to treat it. Negative ids never count from the end.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from itertools import accumulate
from operator import index

from ..errors import UnknownTokenError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    Unknown = Literal["error", "replace", "skip"]

REPLACEMENT = "\ufffd".encode()


def to_ids(ids: Iterable[Any]) -> list[int]:
    """Return `ids` as a list of Python integers; NumPy arrays and integers are accepted.

    Raises TypeError for a single number, a string, and items that aren't integers (booleans and floats included).
    """
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    if isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable):
        raise TypeError(f"ids must be an iterable of integers, not {type(ids).__name__}")
    ids = ids if type(ids) is list else list(ids)
    if set(map(type, ids)) <= {int}:
        return ids
    for position, item in enumerate(ids):
        if isinstance(item, bool) or not hasattr(item, "__index__"):
            raise TypeError(f"id {item!r} at position {position} is a {type(item).__name__}, not an integer")
    return list(map(index, ids))


def strip_padding(ids: Iterable[Any], pad: int) -> list[int]:
    """Return `ids` without the leading and trailing ids equal to `pad`.

    >>> strip_padding([0, 0, 5, 0, 6, 0], 0)
    [5, 0, 6]
    """
    checked = to_ids(ids)
    first, last = 0, len(checked)
    while first < last and checked[first] == pad:
        first += 1
    while first < last and checked[last - 1] == pad:
        last -= 1
    return checked[first:last] if last - first < len(checked) else checked


def join_tokens(ids: Iterable[Any], tokens: Mapping[int, bytes], unknown: Unknown = "error") -> list[bytes]:
    """Return the bytes of each token.

    >>> join_tokens([97, -1], {97: b"a"}, unknown="skip")
    [b'a']

    Raises UnknownTokenError (a KeyError) for an id without a token, unless `unknown` is "replace" (U+FFFD) or "skip".
    """
    checked = to_ids(ids)
    if unknown == "error":
        try:
            return [tokens[token_id] for token_id in checked]
        except KeyError:
            at, missing = next((i, t) for i, t in enumerate(checked) if t not in tokens)
            raise UnknownTokenError(
                f"there is no token with the id {missing} (position {at}; the highest id is {max(tokens)}). "
                'Pass unknown="replace" or unknown="skip" to decode the rest.'
            ) from None
    if unknown == "replace":
        return [tokens.get(token_id, REPLACEMENT) for token_id in checked]
    check_unknown(unknown)
    return [tokens[token_id] for token_id in checked if token_id in tokens]


def check_unknown(unknown: str) -> None:
    """Raise ValueError unless `unknown` is "error", "replace" or "skip"."""
    if unknown not in ("error", "replace", "skip"):
        raise ValueError(f'unknown is "error", "replace" or "skip", not {unknown!r}')


def text_and_offsets(parts: list[bytes]) -> tuple[str, list[int]]:
    """Return the decoded text, and for each part the index of the character in which it starts.

    Parts of one character share its index. Invalid UTF-8 becomes U+FFFD, which counts as a character.
    """
    data = b"".join(parts)
    begins = bytearray(0 if 0x80 <= byte < 0xC0 else 1 for byte in data)  # 1 where a character starts

    def replace(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        begins[error.start : error.end] = b"\1" + bytes(error.end - error.start - 1)
        return "\ufffd", error.end

    codecs.register_error("bpelab.offsets", replace)
    text = data.decode("utf-8", errors="bpelab.offsets")
    characters = list(accumulate(begins))  # for each byte: how many characters have started
    starts = accumulate(map(len, parts), initial=0)
    return text, [characters[start] - 1 if start < len(data) else len(text) for start, _ in zip(starts, parts)]
