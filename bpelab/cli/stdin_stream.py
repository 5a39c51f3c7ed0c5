"""Text and ids from a pipe, as they arrive: what `bpelab stream` reads."""

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from ..errors import BPELabError
from .encoder import BLOCK

_APART = re.compile(r"[\s,\[\]]+")


def blocks(pipe: BinaryIO) -> Iterator[bytes]:
    """What has arrived, as soon as something has."""
    read = getattr(pipe, "read1", pipe.read)
    while block := read(BLOCK):
        yield block


def texts(pipe: BinaryIO) -> Iterator[str]:
    """UTF-8 from a pipe, never half a character. Raises BPELabError for anything else."""
    decoder, size = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        for block in blocks(pipe):
            size += len(block)
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise BPELabError(f"the input is not UTF-8: {error.reason} before byte {size + 1:,}") from error


def numbers(pipe: BinaryIO) -> Iterator[list[int]]:
    """Integers from a pipe, apart by white space or commas, never half a number. Raises BPELabError for others."""
    rest = ""
    for text in texts(pipe):
        *words, rest = _APART.split(rest + text)
        yield list(map(_number, filter(None, words)))
    if rest:
        yield [_number(rest)]


def _number(word: str) -> int:
    try:
        return int(word)
    except ValueError as error:
        raise BPELabError(f"ids are integers: {error}") from error
