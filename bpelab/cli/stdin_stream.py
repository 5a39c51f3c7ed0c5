"""Read text and ids from a pipe as they arrive, for `bpelab stream`."""

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from ..errors import BPELabError
from ..streaming.encoder import BLOCK

_SEPARATORS = re.compile(r"[\s,\[\]]+")


def read_blocks(pipe: BinaryIO) -> Iterator[bytes]:
    """Yield bytes as soon as some have arrived."""
    read = getattr(pipe, "read1", pipe.read)
    while block := read(BLOCK):
        yield block


def read_texts(pipe: BinaryIO) -> Iterator[str]:
    """Yield text from a pipe of UTF-8, whole characters only. Raises BPELabError for invalid UTF-8."""
    decoder, size = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        for block in read_blocks(pipe):
            size += len(block)
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise BPELabError(f"the input is not UTF-8: {error.reason} before byte {size + 1:,}") from error


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
