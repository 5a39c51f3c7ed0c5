"""Plain-text tables: libraries are rows, measures are columns."""

from collections.abc import Callable, Sequence

from .record import Record

MISSING = "-"
Cell = Callable[[str], str]
"""The text of a column for a library."""


def format_table(title: str, rows: list[list[str]]) -> str:
    """Lay out a table: first column aligned left, the others right, with a line under the header.

    >>> print(format_table("Speed", [["", "MB/s"], ["one", "7"], ["two", "12"]]))
    Speed
           MB/s
    ---  ------
    one       7
    two      12
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows = [rows[0], ["-" * (width + 2 * (at > 0)) for at, width in enumerate(widths)], *rows[1:]]
    widths = [width + 2 * (at > 0) for at, width in enumerate(widths)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]
    return "\n".join([title, *lines])


def library_table(
    record: Record, title: str, columns: Sequence[tuple[str, Cell]], order: Callable[[str], float]
) -> str:
    """Lay out a table with a row for each library that has a value, sorted by `order`; "" if none has."""
    body = [[name, *(cell(name) for _, cell in columns)] for name in sorted(record["libraries"], key=order)]
    body = [row for row in body if set(row[1:]) - {MISSING}]
    if not body:
        return ""
    shown = [at for at in range(1, len(columns) + 1) if {row[at] for row in body} != {MISSING}]
    rows = [["", *(name for name, _ in columns)], *body]
    return format_table(title, [[row[0], *(row[at] for at in shown)] for row in rows])
