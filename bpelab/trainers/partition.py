"""A corpus in parts that can be counted apart: byte ranges of a text, row groups of a Parquet file, or whole files.

A range of a text begins and ends at the first place at or behind its bounds where a cut changes no pre-token (see
`pretokenizers/safe_cuts.py`). Who reads a range finds both places by himself, from the bytes beside the bound and from
nothing else, so neighbours agree on them without a word, and no byte is in two parts or in none.

Chapter: More than one machine. Cost: that of reading, and for each bound a look at some 64 kB.
"""

import codecs
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from ..errors import CorpusError
from ..pretokenizers.safe_cuts import safe_cuts
from ..shards.documents import Reading, decoded, json_texts
from ..shards.inputs import Input, check_unchanged
from ..shards.remote import opened
from ..special_tokens import SpecialTokens
from .corpus import document_parts, safe_blocks

WINDOW, MOST_SEARCHED = 1 << 16, 1 << 26


class Part(NamedTuple):
    """A part of a corpus: bytes of a text, row groups of a Parquet file, from and to, or a whole file; its size."""

    source: Input
    span: tuple[int, int] | None
    size: int


def parts_of(inputs: Sequence[Input], size: int, whole: bool) -> list[Part]:
    """Files in parts of about `size` bytes; with `whole`, texts are not cut.

    Raises CorpusError, MissingDependencyError.
    """
    return [part for source in inputs for part in _parts(source, size, whole)]


def _parts(source: Input, size: int, whole: bool) -> Iterator[Part]:
    if source.size > size and source.form == "text" and not whole and _has_ranges(source):
        bounds = [*range(0, source.size, size), source.size]
        yield from (Part(source, (a, b), b - a) for a, b in zip(bounds, bounds[1:]))
    elif source.size > size and source.form == "parquet":
        from ..shards.columns import row_groups

        first = held = 0
        for number, taken in enumerate(sizes := row_groups(source), 1):
            held += taken
            if held >= size or number == len(sizes):
                yield Part(source, (first, number), held)
                first, held = number, 0
    else:
        yield Part(source, None, source.size)


def _has_ranges(source: Input) -> bool:
    """Whether a file can be read from its middle on, which not every web server allows."""
    with suppress(OSError), opened(source.path, seeks=True) as file:
        file.seek(source.size - 1)
        return len(file.read(1)) == 1
    return False


def texts_of(part: Part, field: str, whole: bool, special: SpecialTokens) -> Iterator[str]:
    """The texts of a part, cut where that changes nothing. Raises CorpusError naming the file and the place in it."""
    source, span, reading = part.source, part.span, Reading(field=field)

    def nothing(size: int) -> None:
        """Progress is told by whole parts."""

    if source.form.startswith("text"):
        if span is not None:
            span = safe_bound(source, span[0], special), safe_bound(source, span[1], special)
        if span is None or span[0] < span[1]:
            yield from safe_blocks(decoded(source, "strict", nothing, span), whole, special)
    else:
        for text in _documents(source, reading, span, nothing):
            yield from document_parts(text, whole, special)
    check_unchanged(source)


def _documents(
    source: Input, reading: Reading, span: tuple[int, int] | None, advance: Callable[[int], object]
) -> Iterator[str]:
    if source.form == "parquet":
        from ..shards.columns import column_texts

        return column_texts(source, reading, advance, span)
    return json_texts(source, reading, advance)


def safe_bound(source: Input, at: int, special: SpecialTokens) -> int:
    """The first place at byte `at` or behind it where the text may be cut; the end of the file where there is none.

    Raises CorpusError for a file that can't be read, is no UTF-8, or has no such place for a long time.
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
            place = start + skipped + error.start
            raise CorpusError(
                f"{source.path}: is not UTF-8: {error.reason} at byte {place:,}; convert the file first"
            ) from error
        before = data[: at - start - skipped].decode("utf-8", "ignore")
        last = len(text) - (0 if ends else special.longest)
        for cut in safe_cuts(text, len(before)):
            place = start + skipped + len(text[:cut].encode())
            if place >= at and cut <= last and not special.any_across(text, cut):
                return place
        if ends:
            return source.size
        window *= 4
        if window > MOST_SEARCHED:
            raise CorpusError(
                f"{source.path}: has no place behind byte {at:,} where a text may be cut, a word's end, for "
                f"{window // 4:,} bytes; leave it out, or train on one machine"
            )


def _bytes(source: Input, start: int, stop: int) -> bytes:
    try:
        with opened(source.path, seeks=True) as file:
            file.seek(start)
            return file.read(stop - start)
    except OSError as error:
        raise CorpusError(f"{source.path}: can't be read: {error.strerror or error}") from error
