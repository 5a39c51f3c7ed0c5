"""Plain-text tables: libraries are rows, measures are columns."""

from collections.abc import Callable, Sequence

from .record import Record

NOTHING = "-"
Cell = Callable[[str], str]
"""What a column says about a library."""


def layout(title: str, rows: list[list[str]]) -> str:
    """A table: the first column to the left, the others to the right, a line under the head.

    >>> print(layout("Speed", [["", "MB/s"], ["one", "7"], ["two", "12"]]))
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


def table(record: Record, title: str, columns: Sequence[tuple[str, Cell]], order: Callable[[str], float]) -> str:
    """A row for each library of which a column says something, the quickest first; "" if there is none."""
    body = [[name, *(cell(name) for _, cell in columns)] for name in sorted(record["libraries"], key=order)]
    body = [row for row in body if set(row[1:]) - {NOTHING}]
    if not body:
        return ""
    kept = [at for at in range(1, len(columns) + 1) if {row[at] for row in body} != {NOTHING}]
    rows = [["", *(name for name, _ in columns)], *body]
    return layout(title, [[row[0], *(row[at] for at in kept)] for row in rows])
