"""The documents in a file, in fragments: plain text split at a separator, a field of JSON Lines, a column of Parquet.

A document of up to `FRAGMENT` characters is one fragment; a longer one is several, cut anywhere. Nothing in a
file is trusted: neither its encoding, nor the length of its lines, nor its types.

Cost: linear. Memory: a block and a fragment; for JSON Lines the longest line, `MAX_LINE_BYTES` bytes at most.
"""

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .._support.json_document import short_repr
from .._support.textio import decode_blocks, valid_text
from ..errors import CorpusError
from .compression import Advance, blocks
from .inputs import Input

FRAGMENT = 1 << 20
MAX_LINE_BYTES = 1 << 25


class Fragment(NamedTuple):
    """A part of a document, and whether it is the last one."""

    text: str
    last: bool


class ReadOptions(NamedTuple):
    """How files are read.

    Attributes:
        separator: the string between documents in a text file; None if a file is one document.
        field: the field or column that holds the text.
        errors: "strict" or "replace", for bytes that aren't UTF-8.
    """

    separator: str | None = None
    field: str = "text"
    errors: str = "strict"


def fragments(source: Input, options: ReadOptions, advance: Advance = lambda size: None) -> Iterator[Fragment]:
    """Read a file's documents in fragments. Raises CorpusError naming the file, the line or row, and the field."""
    if source.form == "parquet":
        from .parquet import column_texts

        return in_fragments(column_texts(source, options, advance))
    if source.form.startswith("jsonl"):
        return in_fragments(json_texts(source, options, advance))
    return text_fragments(source, options, advance)


def in_fragments(texts: Iterable[str]) -> Iterator[Fragment]:
    """Yield the fragments of documents in memory.

    >>> list(in_fragments(["short"]))
    [Fragment(text='short', last=True)]
    """
    for text in texts:
        start = 0
        while len(text) - start > FRAGMENT:
            yield Fragment(text[start : start + FRAGMENT], False)
            start += FRAGMENT
        yield Fragment(text[start:], True)


def text_fragments(source: Input, options: ReadOptions, advance: Advance) -> Iterator[Fragment]:
    """Yield the documents of a text file, split as by `str.split(separator)`; empty ones are left out."""
    separator = options.separator
    started, kept = False, ""
    for text in text_blocks(source, options.errors, advance):
        if separator is not None:
            *done, kept = (kept + text).split(separator)
            for document in done:
                if document or started:
                    yield Fragment(document, True)
                started = False
            settled = len(kept) - len(separator) + 1  # after this offset a separator may begin
        else:
            kept, settled = kept + text, len(kept)
        if len(kept) > FRAGMENT and settled > 0:
            yield Fragment(kept[:settled], False)
            started, kept = True, kept[settled:]
    if kept or started:
        yield Fragment(kept, True)


def text_blocks(source: Input, errors: str, advance: Advance, span: tuple[int, int] | None = None) -> Iterator[str]:
    """Yield the text of a file, or of a `span` of its bytes, in blocks.

    Raises CorpusError naming the byte that isn't UTF-8.
    """
    begin = span[0] if span else 0

    def checked() -> Iterator[bytes]:
        for index, block in enumerate(blocks(source, advance, span)):
            if index == begin == 0:
                _reject_compressed(source, block)
            yield block

    def refusal(at: int, reason: str) -> CorpusError:
        return CorpusError(
            f"{source.path}: is not UTF-8: {reason} at byte {at:,}; convert the file, or encode it with "
            "errors=replace, as U+FFFD"
        )

    return decode_blocks(checked(), refusal, errors, begin)


def _reject_compressed(source: Input, block: bytes) -> None:
    for start, name, ending in ((b"\x1f\x8b", "gzip", ".gz"), (b"\x28\xb5\x2f\xfd", "zstd", ".zst")):
        if block.startswith(start):
            kind = source.form.partition(".")[0]
            raise CorpusError(f"{source.path}: is compressed with {name}; pass input_format={kind + ending!r}")


def json_lines(source: Input, advance: Advance) -> Iterator[tuple[int, bytes]]:
    """Yield each line as (number from 1, content). Raises CorpusError for a line longer than MAX_LINE_BYTES."""
    number, pending, size = 1, list[bytes](), 0
    for block in blocks(source, advance):
        if number == 1 and not pending:
            _reject_compressed(source, block)
        *done, rest = block.split(b"\n")
        for line in done:
            yield number, b"".join([*pending, line]) if pending else line
            pending, size, number = [], 0, number + 1
        pending.append(rest)
        size += len(rest)
        if size > MAX_LINE_BYTES:
            raise CorpusError(
                f"{source.path}: line {number:,} has more than {MAX_LINE_BYTES:,} bytes; split its document, or leave "
                "it out: each line is a JSON object of its own"
            )
    yield number, b"".join(pending)


def json_texts(source: Input, options: ReadOptions, advance: Advance) -> Iterator[str]:
    """Yield the texts of the lines that are not blank."""
    for number, line in json_lines(source, advance):
        record = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if record and not record.isspace():
            yield _text_of(record, options, source.path, number)


def _text_of(line: bytes, options: ReadOptions, path: str, number: int) -> str:
    field = options.field
    try:
        data = json.loads(line.decode("utf-8", options.errors))
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8: {error.reason} at byte {error.start:,} of the line"
        raise CorpusError(
            f"{path}: line {number:,}: {problem}; convert the file, or encode it with errors=replace, as U+FFFD"
        ) from error
    except RecursionError as error:
        raise CorpusError(f"{path}: line {number:,}: is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise CorpusError(
            f"{path}: line {number:,}: is not JSON: {error.msg}, column {error.colno:,}; a line is a JSON object"
        ) from error
    except ValueError as error:  # Python's limit on the digits of an integer
        raise CorpusError(f"{path}: line {number:,}: holds an integer with thousands of digits") from error
    if not isinstance(data, dict):
        raise CorpusError(
            f"{path}: line {number:,}: expected an object with the field {field!r}, found {short_repr(data)}"
        )
    if field not in data:
        there = ", ".join(repr(key[:40]) for key in list(data)[:8]) or "none"
        raise CorpusError(
            f"{path}: line {number:,}: there is no field {field!r}; it has {there}: name the one that holds the text"
        )
    text = data[field]
    if not isinstance(text, str):
        raise CorpusError(
            f"{path}: line {number:,}: field {field!r}: expected a string, found {short_repr(text)}; leave such "
            "lines out"
        )
    return valid_text(text)
