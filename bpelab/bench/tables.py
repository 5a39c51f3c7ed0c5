"""Plain-text tables of a record: rows are libraries, columns are measures.

A speed is followed by its ratio to the baseline's. `-` stands for what wasn't measured, `!` for what failed.
"""

from collections.abc import Callable, Mapping, Sequence

from . import record as records
from .record import Record, Row, Speed

MISSING = "-"
UNMEASURED = 1e9
"""What orders unmeasured libraries, so that they come last in tables."""
Cell = Callable[[str], str]
"""A function from a library's name to the text of a cell."""
Numbers = Mapping[str, float]
Speeds = Mapping[Row, Mapping[str, Speed]]


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


def library_table(record: Record, title: str, columns: Sequence[tuple[str, Cell]], order: Numbers) -> str:
    """Lay out a table with a row for each library that has a value, the least of `order` first; "" if none has."""
    names = sorted(record["libraries"], key=lambda name: order.get(name, UNMEASURED))
    body = [[name, *(cell(name) for _, cell in columns)] for name in names]
    body = [row for row in body if set(row[1:]) - {MISSING}]
    if not body:
        return ""
    shown = [at for at in range(1, len(columns) + 1) if {row[at] for row in body} != {MISSING}]
    rows = [["", *(name for name, _ in columns)], *body]
    return format_table(title, [[row[0], *(row[at] for at in shown)] for row in rows])


def encode(record: Record, rows: Speeds, encoding: str, text: str) -> str:
    """Return the table of one text, encoded as a whole."""
    columns = [
        (f"{output}, {measure}", _speed_cell(record, rows, Row(encoding, measure, text, output, 1)))
        for output in ("list", "array")
        for measure in ("cold", "unseen", "again")
    ]
    order = _fastest_first(rows, Row(encoding, "unseen", text, "list", 1))
    return library_table(record, f"Encode {text}, {encoding}", columns, order)


def many_texts(record: Record, rows: Speeds, encoding: str, text: str) -> str:
    """Return the table of calls with short texts, of batches, and of decoding."""
    columns = [
        (head, _speed_cell(record, rows, Row(encoding, measure, text, output, threads)))
        for head, measure, output, threads in (
            ("µs for 60 characters", "calls", "list", 1),
            ("lines, lists", "lines", "list", 1),
            ("2 kB each, lists", "documents", "list", 1),
            ("batch: lists", "batch", "batch list", 1),
            ("2 threads", "batch", "batch list", 2),
            ("batch: arrays", "batch", "batch array", 1),
            ("2 threads", "batch", "batch array", 2),
            ("decode a list", "decode", "decode list", 1),
            ("decode an array", "decode", "decode array", 1),
        )
    ]
    order = _fastest_first(rows, Row(encoding, "documents", text, "list", 1))
    return library_table(record, f"Many texts, and back: {text}, {encoding}; batches by the clock", columns, order)


def _fastest_first(rows: Speeds, row: Row) -> Numbers:
    return {name: -speed.rate for name, speed in rows.get(row, {}).items()}


def _speed_cell(record: Record, rows: Speeds, row: Row) -> Cell:
    kinds = ("warm" if row.measure in ("unseen", "again") else row.measure, "check")

    def cell(name: str) -> str:
        speed = rows.get(row, {}).get(name)
        if speed is not None:
            return format_call(speed) if row.measure == "calls" else format_speed(speed)
        failed = any(records.missing_reason(record, name, row.encoding, kind, row.text) for kind in kinds)
        return "!" if failed and row in rows and row.output in record["libraries"][name]["calls"] else MISSING

    return cell


def format_speed(speed: Speed) -> str:
    """Format a speed and its ratio.

    >>> from .record import Spread
    >>> format_speed(Speed(61.234, Spread(5.61, 5.4, 5.82), None))
    '61.2 (5.6±0.2)'
    """
    number = f"{speed.rate:.3g}" if speed.rate < 1000 else f"{speed.rate:,.0f}"
    if speed.times is None:
        return number
    half = (speed.times.high - speed.times.low) / 2
    digits = 2 if speed.times.median < 0.95 else 1 if speed.times.median < 20 else 0
    return f"{number} ({speed.times.median:.{digits}f}±{half:.{digits}f})"


def format_call(speed: Speed) -> str:
    """Format the microseconds of one call, and the ratio of the speed.

    >>> from .record import Spread
    >>> format_call(Speed(61.234, Spread(5.61, 5.4, 5.82), 9.8e-7))
    '0.98 (5.6±0.2)'
    """
    assert speed.call is not None
    return f"{speed.call * 1e6:.2f} {format_speed(speed).partition(' ')[2]}".rstrip()


def load_and_memory(record: Record) -> str:
    """Return the tables of loading times and memory."""
    cpu = records.single_measures(record, "load", "cpu")
    model, added = (records.single_measures(record, "memory", key) for key in ("model", "added"))
    size = next((sample["bytes"] for sample in record["samples"] if sample["measure"] == "memory"), 0)
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in [*cpu, *model]):
        columns = [
            (head, _number_cell(record, _of_encoding(values, encoding), measure, scale))
            for head, values, measure, scale in (
                ("load, ms", cpu, "load", 1e3),
                ("model, MiB", model, "memory", 1 / (1 << 20)),
                (f"for {size / 1e6:.3g} MB, MiB", added, "memory", 1 / (1 << 20)),
            )
        ]
        title = f"Load {encoding} and encode once, after the imports (processor time); resident memory"
        blocks.append(library_table(record, title, columns, _of_encoding(cpu, encoding)))
    return "\n\n".join(blocks)


def _of_encoding(values: Mapping[tuple[str, str], Numbers], encoding: str) -> Numbers:
    return next((numbers for at, numbers in values.items() if at[0] == encoding), {})


def _number_cell(record: Record, values: Numbers, measure: str, scale: float) -> Cell:
    def cell(name: str) -> str:
        if name in values:
            number = values[name] * scale
            return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"
        failed = any(entry["library"] == name and entry["measure"] == measure for entry in record["left_out"])
        return "!" if failed else MISSING

    return cell


def fresh_process(record: Record) -> str:
    """Return the tables of fresh processes."""
    times = records.single_measures(record, "fresh", "cpu")
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in times):
        texts = {text: seconds for (of, text), seconds in times.items() if of == encoding}
        columns = [(text, _format_cell(seconds, "{:,.0f}", 1e3)) for text, seconds in texts.items()]
        title = f"A fresh process that imports, loads {encoding} and encodes: milliseconds of processor time"
        blocks.append(library_table(record, title, columns, next(iter(texts.values()))))
    return "\n\n".join(blocks)


def pathological(record: Record) -> str:
    """Return the tables of pathological inputs."""
    times = records.single_measures(record, "pathological", "cpu")
    failed = [(entry["encoding"], entry["text"]) for entry in record["left_out"] if entry["measure"] == "pathological"]
    size, limit = record["options"]["pathological_bytes"], record["options"]["pathological_seconds"]
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in [*times, *failed]):
        inputs = [at for at in dict.fromkeys([*times, *failed]) if at[0] == encoding]
        columns = [(at[1], _pathological_cell(record, times.get(at, {}), *at)) for at in inputs]
        title = f"{size / 1e6:g} MB of one kind, {encoding}: milliseconds of processor time"
        total = {name: sum(times.get(at, {}).get(name, limit) for at in inputs) for name in record["libraries"]}
        blocks.append(library_table(record, title, columns, total))
    return "\n\n".join(blocks)


def _pathological_cell(record: Record, seconds: Numbers, encoding: str, text: str) -> Cell:
    digests, right = records.digests(record, encoding, text), records.right_digest(record, encoding, text)

    def cell(name: str) -> str:
        if name in seconds:
            wrong = digests[name] != right
            return "other ids" if wrong else f"{seconds[name] * 1e3:,.3g}".replace("e+03", "k")
        why = records.missing_reason(record, name, encoding, "pathological", text)
        if why is None:
            return MISSING
        if why.startswith("took more"):
            return f"> {record['options']['pathological_seconds']:g} s"
        return "crash" if why.startswith(("crashed", "ended")) else "refuses" if "Error" in why else "fails"

    return cell


TRAINED = {
    "train": "GPT-2's pattern, one thread; reading the file included",
    "superwords": "SuperBPE, generated text, on all cores; reading the file included",
}
PUBLISHED_SUPERWORDS = (
    "No other library here learns superwords. Schmidt, Tanner and Pinter (2026) published a trainer in Rust that makes "
    "them\nof 1 GB in 593 s, on their machine."
)


def train(record: Record, measure: str) -> str:
    """Return the tables of training: "train" or "superwords"."""
    times, walls = (records.single_measures(record, measure, key) for key in ("cpu", "wall"))
    blocks = []
    for at, seconds in times.items():
        shared = {s["library"]: s["shared"] for s in record["samples"] if s["text"] == at[1] and "shared" in s}
        columns = [
            ("processor, s", _format_cell(seconds, "{:.2f}")),
            ("clock, s", _format_cell(walls[at], "{:.2f}")),
            ("tokens as bpelab's", _format_cell(shared, "{:.1%}")),
        ]
        blocks.append(library_table(record, f"Train {at[1]}, {TRAINED[measure]}", columns, seconds))
    if blocks and measure == "superwords":
        blocks.append(PUBLISHED_SUPERWORDS)
    return "\n\n".join(blocks)


def _format_cell(values: Numbers, number_format: str, scale: float = 1) -> Cell:
    return lambda name: number_format.format(values[name] * scale) if name in values else MISSING
