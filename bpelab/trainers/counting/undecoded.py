"""Texts as bytes: files to count in C are read, cut and checked without decoding them.

A file's blocks are cut where `corpus.py` could cut them: at a boundary in the last few kilobytes. `corpus.py` handles
the other cases: files of records, normalizers, special tokens, and patterns without known boundaries.
Chapter: Incremental training. Cost: reading the file, and 0.1 ns a byte of ASCII.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ..._support.textio import utf8_size
from ...boundaries.named_patterns import BoundaryKind, last_boundary
from ...corpus.file_formats import detect_format
from ...errors import TrainingError
from ...pretokenizers.split import Split
from ...vocab.special_tokens import SpecialTokens
from .corpus import (
    BLOCK,
    Corpus,
    boundary_kind_for,
    document_parts,
    documents,
    not_utf8,
    refuse_json_lines,
    training_texts,
)

WINDOW = 4096
"""The number of bytes at the end of a block in which to search for a boundary."""


def undecoded_texts(
    corpus: Corpus,
    split: Split | None,
    special: SpecialTokens,
    normalize: Callable[[str], str] | None,
    advance: Callable[[int], object],
    form: str | None = None,
    field: str = "text",
) -> Iterator[str | bytes]:
    """Yield the same texts as `training_texts`, as undecoded bytes where possible, perhaps cut at other boundaries."""
    kind = boundary_kind_for(split, split)
    if kind is BoundaryKind.NONE or special.tokens or normalize is not None:
        yield from training_texts(corpus, split, special, normalize, advance, form, field)
        return
    for document in documents(corpus):
        if isinstance(document, Path) and (form or detect_format(str(document), None) or "text") == "text":
            if form is None:
                refuse_json_lines(document)
            for part in parts_of_file(document, kind):
                yield part
                advance(len(part))
        else:
            for text in document_parts(document, kind, special, form, field):
                yield text
                advance(utf8_size(text))


def parts_of_file(path: Path, kind: BoundaryKind) -> Iterator[bytes]:
    """Yield a file's bytes in parts of about a block that end at boundaries. Cost: linear, however rare they are.

    Raises TrainingError for a file that can't be read or is not UTF-8.
    """
    searched: list[bytes] = []
    begin = 0
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                if (end := last_boundary_of_bytes(block, kind)) == 0:
                    searched.append(block)
                    continue
                part = b"".join([*searched, block[:end]])
                yield _checked(part, path, begin)
                searched, begin = [block[end:]], begin + len(part)
    except OSError as error:
        raise TrainingError(f"{path} can't be read: {error.strerror}") from error
    yield _checked(b"".join(searched), path, begin)


def last_boundary_of_bytes(block: bytes, kind: BoundaryKind) -> int:
    """Return the last boundary near the end of a UTF-8 block, or 0; the block may start and end inside a character.

    >>> last_boundary_of_bytes("zwei Wörter, und".encode(), BoundaryKind.WORDS)
    12
    """
    start = max(0, len(block) - WINDOW)
    while start < len(block) and block[start] & 0xC0 == 0x80:
        start += 1
    try:
        text = block[start:].decode()
    except UnicodeDecodeError as error:  # the block ends inside a character, or isn't UTF-8: `_checked` reports that
        text = block[start : start + error.start].decode()
    end = last_boundary(text, len(text), kind)
    return start + len(text[:end].encode()) if end else 0


def _checked(part: bytes, path: Path, begin: int) -> bytes:
    """Return `part`, which starts at byte `begin` of a file. Raises TrainingError if it isn't UTF-8."""
    from ...native._core import is_utf8

    if not is_utf8(part):
        try:
            part.decode()
        except UnicodeDecodeError as error:
            raise not_utf8(path, begin + error.start, error.reason) from None
    return part
