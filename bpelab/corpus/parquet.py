"""The texts of a column of a Parquet file, read in batches of rows of about `BATCH` bytes each.

Cost: linear. Memory: a batch, and the pages of one column of one row group that it lies in. How far a page unpacks is
pyarrow's to watch.
"""

from collections.abc import Iterator
from typing import Any

from ..errors import CorpusError, MissingDependencyError
from ..install import install_command
from .blocks import BLOCK, Advance
from .documents import Reading
from .inputs import Input
from .remote import is_address, opened

BATCH, MOST_ROWS = 4 << 20, 4096


def column_texts(
    source: Input, reading: Reading, advance: Advance, span: tuple[int, int] | None = None
) -> Iterator[str]:
    """The texts, row by row; of row groups `span[0]` up to `span[1]`, or of all.

    Raises CorpusError naming the row, counted from 0, for a column that is not there or not of strings, a value that is
    missing or no UTF-8, and a file that is damaged; MissingDependencyError.
    """
    pyarrow, row = _pyarrow(source), 0
    try:
        with _opened(source) as file:
            place = _place(file, pyarrow, source, reading.field)
            groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
            for number, group in enumerate(groups):
                if span is not None and not span[0] <= number < span[1]:
                    row += group.num_rows
                    continue
                rows = max(1, group.num_rows)
                each = max(1, group.column(place).total_uncompressed_size // rows)
                size = min(MOST_ROWS, max(1, BATCH // each))
                found = file.iter_batches(size, row_groups=[number], columns=[reading.field], use_threads=False)
                for batch in found:
                    for value in batch.column(0).cast(pyarrow.large_binary()):
                        yield _text(value.as_py(), source, row, reading)
                        row += 1
                advance(source.size // len(groups))
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(source, row, error) from error


def row_groups(source: Input) -> list[int]:
    """About how many bytes of the file each row group takes. Raises CorpusError, MissingDependencyError."""
    pyarrow = _pyarrow(source)
    try:
        with _opened(source) as file:
            sizes = [file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups)]
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(source, 0, error) from error
    return [source.size * size // max(1, sum(sizes)) for size in sizes]


def _pyarrow(source: Input) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingDependencyError(f"{source.path}: pyarrow is not installed: {install_command('files')}") from error
    return pyarrow


def _opened(source: Input) -> Any:
    from pyarrow import parquet

    given = opened(source.path, seeks=True) if is_address(source.path) else source.path
    return parquet.ParquetFile(given, buffer_size=BLOCK, pre_buffer=False)


def _unreadable(source: Input, row: int, error: Exception) -> CorpusError:
    said = str(error).partition("\n")[0][:300]
    return CorpusError(f"{source.path}: row {row:,}: can't be read as Parquet: {said}; write it again")


def _place(file: Any, pyarrow: Any, source: Input, field: str) -> int:
    """Which of the file's columns the field is."""
    schema, types = file.schema_arrow, pyarrow.types
    if schema.names.count(field) != 1:
        there = ", ".join(repr(name[:40]) for name in schema.names[:8]) or "none"
        raise CorpusError(f"{source.path}: there is no column {field!r}; its columns are {there}: name one of them")
    kind = schema.field(field).type
    value = kind.value_type if types.is_dictionary(kind) else kind
    views = getattr(types, "is_string_view", lambda kind: False)  # of pyarrow 16 and later
    if not (types.is_string(value) or types.is_large_string(value) or views(value)):
        raise CorpusError(f"{source.path}: column {field!r}: expected strings, found {kind}; name another column")
    return next(number for number in range(file.metadata.num_columns) if file.schema.column(number).path == field)


def _text(value: bytes | None, source: Input, row: int, reading: Reading) -> str:
    try:
        if value is not None:
            return value.decode("utf-8", reading.errors)
        problem = "expected a string, found nothing; leave such rows out"
    except UnicodeDecodeError as error:
        problem = (
            f"is not UTF-8: {error.reason} at byte {error.start:,}; write it again, or encode it with errors=replace"
        )
    raise CorpusError(f"{source.path}: row {row:,}: column {reading.field!r}: {problem}")
