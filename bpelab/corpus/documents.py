"""The documents of a file, in fragments: plain text cut at a separator, a field of JSON Lines, a column of Parquet.

A document of up to `FRAGMENT` characters is one fragment; a longer one comes in several, cut anywhere. Nothing in a
file is believed: not its encoding, nor its length of line, nor its types.

Cost: linear. Memory: a block and a fragment; for JSON Lines the longest line, of `LONGEST_LINE` bytes at most.
"""

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..errors import CorpusError
from ..formats.json_file import shown
from ..textio import valid_text
from .blocks import Advance, blocks
from .inputs import Input

FRAGMENT = 1 << 20
LONGEST_LINE = 1 << 25


class Fragment(NamedTuple):
    """A part of a document, and whether it is the last one."""

    text: str
    last: bool


class Reading(NamedTuple):
    """How files are read.

    Attributes:
        separator: what stands between the documents of a text; None where a whole file is one.
        field: the field or the column that holds the text.
        errors: "strict" or "replace", for bytes that are no UTF-8.
    """

    separator: str | None = None
    field: str = "text"
    errors: str = "strict"


def fragments(source: Input, reading: Reading, advance: Advance = lambda size: None) -> Iterator[Fragment]:
    """The documents of a file. Raises CorpusError naming the file, the line or row, and the field."""
    if source.form == "parquet":
        from .columns import column_texts

        return in_fragments(column_texts(source, reading, advance))
    if source.form.startswith("jsonl"):
        return in_fragments(json_texts(source, reading, advance))
    return text_fragments(source, reading, advance)


def in_fragments(texts: Iterable[str]) -> Iterator[Fragment]:
    """Documents that are at hand.

    >>> list(in_fragments(["short"]))
    [Fragment(text='short', last=True)]
    """
    for text in texts:
        start = 0
        while len(text) - start > FRAGMENT:
            yield Fragment(text[start : start + FRAGMENT], False)
            start += FRAGMENT
        yield Fragment(text[start:], True)


def text_fragments(source: Input, reading: Reading, advance: Advance) -> Iterator[Fragment]:
    """The documents of a text, which are what `str.split` finds between separators; empty ones are left out."""
    separator = reading.separator
    begun, kept = False, ""
    for text in decoded(source, reading.errors, advance):
        if separator is not None:
            *done, kept = (kept + text).split(separator)
            for document in done:
                if document or begun:
                    yield Fragment(document, True)
                begun = False
            settled = len(kept) - len(separator) + 1  # behind it one may begin
        else:
            kept, settled = kept + text, len(kept)
        if len(kept) > FRAGMENT and settled > 0:
            yield Fragment(kept[:settled], False)
            begun, kept = True, kept[settled:]
    if kept or begun:
        yield Fragment(kept, True)


def decoded(source: Input, errors: str, advance: Advance, span: tuple[int, int] | None = None) -> Iterator[str]:
    """The text of a file, or of those bytes of it, in blocks. Raises CorpusError naming the byte that is no UTF-8."""
    decoder, position = codecs.getincrementaldecoder("utf-8")(errors), span[0] if span else 0
    try:
        for block in blocks(source, advance, span):
            if position == 0:
                _refuse_packed(source, block)
            position += len(block)
            yield decoder.decode(block)
        block = b""
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        at = position - len(error.object) + error.start  # what it had kept is in front of the block
        raise CorpusError(
            f"{source.path}: is not UTF-8: {error.reason} at byte {at:,}; convert the file, or encode it with "
            "errors=replace, as U+FFFD"
        ) from error


def _refuse_packed(source: Input, block: bytes) -> None:
    for start, name, ending in ((b"\x1f\x8b", "gzip", ".gz"), (b"\x28\xb5\x2f\xfd", "zstd", ".zst")):
        if block.startswith(start):
            kind = source.form.partition(".")[0]
            raise CorpusError(f"{source.path}: is packed with {name}; name the input form {kind + ending!r}")


def json_lines(source: Input, advance: Advance) -> Iterator[tuple[int, bytes]]:
    """(number from 1, content) of each line. Raises CorpusError for one longer than LONGEST_LINE."""
    number, held, size = 1, list[bytes](), 0
    for block in blocks(source, advance):
        if number == 1 and not held:
            _refuse_packed(source, block)
        *done, rest = block.split(b"\n")
        for line in done:
            yield number, b"".join([*held, line]) if held else line
            held, size, number = [], 0, number + 1
        held.append(rest)
        size += len(rest)
        if size > LONGEST_LINE:
            raise CorpusError(
                f"{source.path}: line {number:,} has more than {LONGEST_LINE:,} bytes; split its document, or leave it "
                "out: each line is a JSON object of its own"
            )
    yield number, b"".join(held)


def json_texts(source: Input, reading: Reading, advance: Advance) -> Iterator[str]:
    """The texts of the lines that are not blank."""
    for number, line in json_lines(source, advance):
        record = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if record and not record.isspace():
            yield _text_of(record, reading, source.path, number)


def _text_of(line: bytes, reading: Reading, path: str, number: int) -> str:
    field = reading.field
    try:
        data = json.loads(line.decode("utf-8", reading.errors))
    except UnicodeDecodeError as error:
        said = f"is not UTF-8: {error.reason} at byte {error.start:,} of the line"
        raise CorpusError(
            f"{path}: line {number:,}: {said}; convert the file, or encode it with errors=replace, as U+FFFD"
        ) from error
    except RecursionError as error:
        raise CorpusError(f"{path}: line {number:,}: is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise CorpusError(
            f"{path}: line {number:,}: is not JSON: {error.msg}, column {error.colno:,}; a line is a JSON object"
        ) from error
    except ValueError as error:  # of Python, about the digits of an integer
        raise CorpusError(f"{path}: line {number:,}: holds an integer with thousands of digits") from error
    if not isinstance(data, dict):
        raise CorpusError(f"{path}: line {number:,}: expected an object with the field {field!r}, found {shown(data)}")
    if field not in data:
        there = ", ".join(repr(key[:40]) for key in list(data)[:8]) or "none"
        raise CorpusError(
            f"{path}: line {number:,}: there is no field {field!r}; it has {there}: name the one that holds the text"
        )
    text = data[field]
    if not isinstance(text, str):
        raise CorpusError(
            f"{path}: line {number:,}: field {field!r}: expected a string, found {shown(text)}; leave such lines out"
        )
    return valid_text(text)
