"""Parquet: the texts of a column, read in batches of rows of about `BATCH` bytes each.

Cost: linear. Memory: a batch, and the column's pages in its row group. pyarrow limits how far a page expands.
"""

from collections.abc import Iterator
from typing import Any

from .._support.install import install_command
from ..errors import CorpusError, MissingDependencyError
from .compression import BLOCK, Advance
from .documents import ReadOptions
from .fsspec_files import is_address, open_path
from .inputs import Input

BATCH, MAX_ROWS = 4 << 20, 4096


def column_texts(
    source: Input, options: ReadOptions, advance: Advance, span: tuple[int, int] | None = None
) -> Iterator[str]:
    """Yield the texts row by row, from row groups `span[0]` up to `span[1]`, or from all.

    Raises CorpusError naming the row, counted from 0, for a column that is missing or isn't strings, a value that is
    missing or isn't UTF-8, and a damaged file; MissingDependencyError.
    """
    pyarrow, row = _pyarrow(source), 0
    try:
        with _open_parquet(source) as file:
            offset = _column_index(file, pyarrow, source, options.field)
            groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
            for number, group in enumerate(groups):
                if span is not None and not span[0] <= number < span[1]:
                    row += group.num_rows
                    continue
                rows = max(1, group.num_rows)
                each = max(1, group.column(offset).total_uncompressed_size // rows)
                size = min(MAX_ROWS, max(1, BATCH // each))
                found = file.iter_batches(size, row_groups=[number], columns=[options.field], use_threads=False)
                for batch in found:
                    for value in batch.column(0).cast(pyarrow.large_binary()):
                        yield _text(value.as_py(), source, row, options)
                        row += 1
                advance(source.size // len(groups))
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(source, row, error) from error


def row_groups(source: Input) -> list[int]:
    """Return each row group's approximate size in the file, in bytes. Raises CorpusError, MissingDependencyError."""
    pyarrow = _pyarrow(source)
    try:
        with _open_parquet(source) as file:
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


def _open_parquet(source: Input) -> Any:
    from pyarrow import parquet

    given = open_path(source.path, seeks=True) if is_address(source.path) else source.path
    return parquet.ParquetFile(given, buffer_size=BLOCK, pre_buffer=False)


def _unreadable(source: Input, row: int, error: Exception) -> CorpusError:
    reason = str(error).partition("\n")[0][:300]
    return CorpusError(f"{source.path}: row {row:,}: can't be read as Parquet: {reason}; write it again")


def _column_index(file: Any, pyarrow: Any, source: Input, field: str) -> int:
    """Return the index of the field among the file's columns."""
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


def _text(value: bytes | None, source: Input, row: int, options: ReadOptions) -> str:
    try:
        if value is not None:
            return value.decode("utf-8", options.errors)
        problem = "expected a string, found nothing; leave such rows out"
    except UnicodeDecodeError as error:
        problem = (
            f"is not UTF-8: {error.reason} at byte {error.start:,}; write it again, or encode it with errors=replace"
        )
    raise CorpusError(f"{source.path}: row {row:,}: column {options.field!r}: {problem}")
