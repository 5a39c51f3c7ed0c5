"""Plain-text tables of paired measures: rows are libraries, columns are measures, cells are speeds and ratios."""

from collections.abc import Callable, Sequence

from . import summary
from .record import Record
from .summary import Row, Speed

MISSING = "-"
Cell = Callable[[str], str]
"""A function from a library's name to the text of a cell."""


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


ENCODE = [(measure, output) for output in ("list", "array") for measure in ("cold", "unseen", "again")]
Speeds = dict[Row, dict[str, Speed]]


def encode(record: Record, rows: Speeds, encoding: str, text: str) -> str:
    columns: list[tuple[str, Cell]] = []
    for measure, output in ENCODE:
        row = Row(encoding, measure, text, output, 1)
        columns.append((f"{output}, {measure}", _speed_cell(record, rows, row)))
    unseen = {**rows.get(Row(encoding, "unseen", text, "list", 1), {})}
    return library_table(record, f"Encode {text}, {encoding}", columns, _fastest_first(unseen))


def many_texts(record: Record, rows: Speeds, encoding: str, text: str) -> str:
    calls = rows.get(Row(encoding, "calls", text, "list", 1), {})

    def call(name: str) -> str:
        if name in calls:
            return _format_call(calls[name])
        return _speed_cell(record, rows, Row(encoding, "calls", text, "list", 1))(name)

    kinds = [
        ("lines, lists", "lines", "list", 1),
        ("2 kB each, lists", "documents", "list", 1),
        ("batch: lists", "batch", "batch list", 1),
        ("2 threads", "batch", "batch list", 2),
        ("batch: arrays", "batch", "batch array", 1),
        ("2 threads", "batch", "batch array", 2),
        ("decode a list", "decode", "decode list", 1),
        ("decode an array", "decode", "decode array", 1),
    ]
    columns: list[tuple[str, Cell]] = [("µs for 60 characters", call)]
    columns += [(head, _speed_cell(record, rows, Row(encoding, kind, text, out, n))) for head, kind, out, n in kinds]
    order = _fastest_first(rows.get(Row(encoding, "documents", text, "list", 1), {}))
    return library_table(record, f"Many texts, and back: {text}, {encoding}; batches by the clock", columns, order)


def _format_call(speed: Speed) -> str:
    assert speed.call is not None
    ratio = format_speed(speed).partition(" ")[2]
    return f"{speed.call * 1e6:.2f} {ratio}".rstrip()


def _speed_cell(record: Record, rows: Speeds, row: Row) -> Cell:
    measure = "warm" if row.measure in ("unseen", "again") else row.measure

    def cell(name: str) -> str:
        speed = rows.get(row, {}).get(name)
        if speed is None:
            missing = any(
                summary.missing_reason(record, name, row.encoding, kind, row.text) for kind in (measure, "check")
            )
            return "!" if missing and row in rows and row.output in record["libraries"][name]["calls"] else MISSING
        return format_speed(speed)

    return cell


def format_speed(speed: Speed) -> str:
    """Format a speed and its ratio.

    >>> from .summary import Spread
    >>> format_speed(Speed(61.234, Spread(5.61, 5.4, 5.82), None))
    '61.2 (5.6±0.2)'
    """
    number = f"{speed.rate:.3g}" if speed.rate < 1000 else f"{speed.rate:,.0f}"
    if speed.times is None:
        return number
    half = (speed.times.high - speed.times.low) / 2
    digits = 1 if speed.times.median < 20 else 0
    small = speed.times.median < 0.95
    return f"{number} ({speed.times.median:.{2 if small else digits}f}±{half:.{2 if small else digits}f})"


def _fastest_first(speeds: dict[str, Speed]) -> Callable[[str], float]:
    return lambda name: -speeds[name].rate if name in speeds else 1.0
