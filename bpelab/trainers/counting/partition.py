"""Partition a corpus for separate counting: byte ranges of a text, row groups of a Parquet file, or whole files.

A range of a text starts and ends at the first boundary at or after its limits, where a cut changes no pre-token (see
`boundaries/named_patterns.py`). A worker computes both boundaries only from the bytes next to the limits, so adjacent
workers compute the same boundary independently, and every byte is in exactly one part.

Chapter: More than one machine. Cost: that of reading, and some 64 kB more for each limit.
"""

import codecs
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ...boundaries.named_patterns import BoundaryKind, iter_boundaries
from ...corpus.documents import ReadOptions, json_texts, text_blocks
from ...corpus.fsspec_files import open_path
from ...corpus.inputs import Input, check_unchanged
from ...errors import CorpusError
from ...vocab.special_tokens import SpecialTokens
from .corpus import blocks_at_boundaries, document_parts

WINDOW, MAX_SEARCHED = 1 << 16, 1 << 26


class Part(NamedTuple):
    """A part of a corpus and its size in bytes. `span` is a range of bytes or Parquet row groups; None is all."""

    source: Input
    span: tuple[int, int] | None
    size: int


def parts_of(inputs: Sequence[Input], size: int, kind: BoundaryKind) -> list[Part]:
    """Partition files into parts of about `size` bytes; `kind` says where texts may be cut.

    Raises CorpusError, MissingDependencyError.
    """
    return [part for source in inputs for part in _parts(source, size, kind)]


def _parts(source: Input, size: int, kind: BoundaryKind) -> Iterator[Part]:
    if source.size > size and source.form == "text" and kind is not BoundaryKind.NONE and _has_ranges(source):
        bounds = [*range(0, source.size, size), source.size]
        yield from (Part(source, (a, b), b - a) for a, b in zip(bounds, bounds[1:]))
    elif source.size > size and source.form == "parquet":
        from ...corpus.parquet import row_groups

        first = pending = 0
        for number, taken in enumerate(sizes := row_groups(source), 1):
            pending += taken
            if pending >= size or number == len(sizes):
                yield Part(source, (first, number), pending)
                first, pending = number, 0
    else:
        yield Part(source, None, source.size)


def _has_ranges(source: Input) -> bool:
    """Return whether a file can be read from any offset, which some web servers don't allow."""
    with suppress(OSError), open_path(source.path, seeks=True) as file:
        file.seek(source.size - 1)
        return len(file.read(1)) == 1
    return False


def texts_of(part: Part, field: str, kind: BoundaryKind, special: SpecialTokens) -> Iterator[str]:
    """Yield the texts of a part, cut at boundaries.

    Raises CorpusError naming the file and the position in it.
    """
    source, span, options = part.source, part.span, ReadOptions(field=field)

    def ignore(size: int) -> None:
        """Ignore progress inside a part, since only whole parts are reported."""

    if source.form.startswith("text"):
        if span is not None:
            span = boundary_after(source, span[0], special, kind), boundary_after(source, span[1], special, kind)
        if span is None or span[0] < span[1]:
            yield from blocks_at_boundaries(text_blocks(source, "strict", ignore, span), kind, special)
    else:
        for text in _documents(source, options, span, ignore):
            yield from document_parts(text, kind, special)
    check_unchanged(source)


def _documents(
    source: Input, options: ReadOptions, span: tuple[int, int] | None, advance: Callable[[int], object]
) -> Iterator[str]:
    if source.form == "parquet":
        from ...corpus.parquet import column_texts

        return column_texts(source, options, advance, span)
    return json_texts(source, options, advance)


def boundary_after(source: Input, at: int, special: SpecialTokens, kind: BoundaryKind = BoundaryKind.WORDS) -> int:
    """Return the first offset at or after byte `at` where the text may be cut, or the end of the file.

    Raises CorpusError for a file that can't be read, isn't UTF-8, or has no boundary within `MAX_SEARCHED` bytes.
    """
    if at <= 0 or at >= source.size:
        return min(max(at, 0), source.size)
    start, window = max(0, at - 4 * special.longest - 4), WINDOW
    while True:
        data = _bytes(source, start, at + window)
        skipped = next((n for n, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0) if start else 0
        data = data[skipped:]
        ends = start + skipped + len(data) >= source.size
        try:
            text = codecs.getincrementaldecoder("utf-8")().decode(data, ends)
        except UnicodeDecodeError as error:
            offset = start + skipped + error.start
            raise CorpusError(
                f"{source.path}: is not UTF-8: {error.reason} at byte {offset:,}; convert the file first"
            ) from error
        before = data[: at - start - skipped].decode("utf-8", "ignore")
        last = len(text) - (0 if ends else special.longest)
        for end in iter_boundaries(text, len(before), kind):
            offset = start + skipped + len(text[:end].encode())
            if offset >= at and end <= last and not special.may_cross(text, end):
                return offset
        if ends:
            return source.size
        window *= 4
        if window > MAX_SEARCHED:
            raise CorpusError(
                f"{source.path}: has no boundary, such as the end of a word, within {window // 4:,} bytes after "
                f"byte {at:,}; leave it out, or train on one machine"
            )


def _bytes(source: Input, start: int, stop: int) -> bytes:
    try:
        with open_path(source.path, seeks=True) as file:
            file.seek(start)
            return file.read(stop - start)
    except OSError as error:
        raise CorpusError(f"{source.path}: can't be read: {error.strerror or error}") from error
