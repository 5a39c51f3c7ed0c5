"""The tables of isolated measures: loading, memory, fresh processes, pathological inputs, training."""

from collections.abc import Callable

from . import summary
from .record import Record
from .tables import MISSING, Cell, library_table

Numbers = dict[str, float]
UNMEASURED = 1e9
"""Seconds assumed for unmeasured libraries, so that they come last in tables."""


def load_and_memory(record: Record) -> str:
    """Return the tables of loading times and memory."""
    cpu = summary.single_measures(record, "load", "cpu")
    model, added = (summary.single_measures(record, "memory", key) for key in ("model", "added"))
    size = next((s["bytes"] for s in record["samples"] if s["measure"] == "memory"), 0)
    kinds = (
        ("load, ms", cpu, "load", 1e3),
        ("model, MiB", model, "memory", 1 / (1 << 20)),
        (f"for {size / 1e6:.3g} MB, MiB", added, "memory", 1 / (1 << 20)),
    )
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in [*cpu, *model]):
        columns = [
            (head, _number_cell(record, _of_encoding(values, encoding), encoding, measure, scale))
            for head, values, measure, scale in kinds
        ]
        title = f"Load {encoding} and encode once, after the imports (processor time); resident memory"
        blocks.append(library_table(record, title, columns, _fastest_first(_of_encoding(cpu, encoding))))
    return "\n\n".join(blocks)


def _of_encoding(values: dict[tuple[str, str], Numbers], encoding: str) -> Numbers:
    return next((found for at, found in values.items() if at[0] == encoding), {})


def _fastest_first(seconds: Numbers) -> Callable[[str], float]:
    return lambda name: seconds.get(name, UNMEASURED)


def _number_cell(record: Record, values: dict[str, float], encoding: str, measure: str, scale: float) -> Cell:
    def cell(name: str) -> str:
        if name in values:
            number = values[name] * scale
            return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"
        wrong = any(e["library"] == name and e["measure"] == measure for e in record["left_out"])
        return "!" if wrong else MISSING

    return cell


def fresh_process(record: Record) -> str:
    times = summary.single_measures(record, "fresh", "cpu")
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in times):
        here = {text: found for (of, text), found in times.items() if of == encoding}
        columns = [
            (text, _format_cell({n: s * 1e3 for n, s in found.items()}, "{:,.0f}")) for text, found in here.items()
        ]
        title = f"A fresh process that imports, loads {encoding} and encodes: milliseconds of processor time"
        blocks.append(library_table(record, title, columns, _fastest_first(next(iter(here.values())))))
    return "\n\n".join(blocks)


def pathological(record: Record) -> str:
    times = summary.single_measures(record, "pathological", "cpu")
    entries = [(e["encoding"], e["text"]) for e in record["left_out"] if e["measure"] == "pathological"]
    asked = list(dict.fromkeys([*times, *entries]))
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in asked):
        columns = [(text, _pathological_cell(record, times, encoding, text)) for e, text in asked if e == encoding]
        size = record["options"]["pathological_bytes"]
        title = f"{size / 1e6:g} MB of one kind, {encoding}: milliseconds of processor time"
        limit = record["options"]["pathological_seconds"]
        here = [times.get(at, {}) for at in asked if at[0] == encoding]
        total = {name: sum(found.get(name, limit) for found in here) for name in record["libraries"]}
        blocks.append(library_table(record, title, columns, _fastest_first(total)))
    return "\n\n".join(blocks)


def _pathological_cell(
    record: Record, times: dict[tuple[str, str], dict[str, float]], encoding: str, text: str
) -> Cell:
    right = summary.right_digest(record, encoding, text)

    def cell(name: str) -> str:
        if name in times.get((encoding, text), {}):
            if summary.digests(record, encoding, text)[name] != right:
                return "other ids"
            return f"{times[encoding, text][name] * 1e3:,.3g}".replace("e+03", "k")
        why = summary.missing_reason(record, name, encoding, "pathological", text)
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
    times, walls = summary.single_measures(record, measure, "cpu"), summary.single_measures(record, measure, "wall")
    blocks = []
    for at, found in times.items():
        shared = {s["library"]: s["shared"] for s in record["samples"] if s["text"] == at[1] and "shared" in s}
        columns = [
            ("processor, s", _format_cell(found, "{:.2f}")),
            ("clock, s", _format_cell(walls[at], "{:.2f}")),
            ("tokens as bpelab's", _format_cell(shared, "{:.1%}")),
        ]
        title = f"Train {at[1]}, {TRAINED[measure]}"
        blocks.append(library_table(record, title, columns, _fastest_first(found)))
    if blocks and measure == "superwords":
        blocks.append(PUBLISHED_SUPERWORDS)
    return "\n\n".join(blocks)


def _format_cell(values: Numbers, number_format: str) -> Cell:
    return lambda name: number_format.format(values[name]) if name in values else MISSING
