"""Read text and ids from a pipe as they arrive, for `bpelab stream`."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from .._support.textio import decode_blocks
from ..errors import BPELabError
from ..streaming.encoder import BLOCK

_SEPARATORS = re.compile(r"[\s,\[\]]+")


def read_blocks(pipe: BinaryIO) -> Iterator[bytes]:
    """Yield bytes as soon as any arrive."""
    read = getattr(pipe, "read1", pipe.read)
    while block := read(BLOCK):
        yield block


def read_texts(pipe: BinaryIO) -> Iterator[str]:
    """Yield text from a pipe of UTF-8, in whole characters. Raises BPELabError for invalid UTF-8."""

    def refusal(at: int, reason: str) -> BPELabError:
        return BPELabError(f"the input is not UTF-8: {reason} at byte {at:,}")

    return decode_blocks(read_blocks(pipe), refusal)


def read_ids(pipe: BinaryIO) -> Iterator[list[int]]:
    """Yield integers from a pipe, separated by white space or commas. Raises BPELabError for anything else.

    A number that has only partly arrived waits for the rest.
    """
    partial = ""
    for text in read_texts(pipe):
        *words, partial = _SEPARATORS.split(partial + text)
        yield list(map(_parse_id, filter(None, words)))
    if partial:
        yield [_parse_id(partial)]


def _parse_id(word: str) -> int:
    try:
        return int(word)
    except ValueError as error:
        raise BPELabError(f"ids are integers: {error}") from error
