"""The tables of what each library did by itself: loading, memory, hard inputs, training."""

from collections.abc import Callable

from . import summary
from .layout import NOTHING, Cell, table
from .record import Record

Numbers = dict[str, float]
LAST = 1e9
"""Seconds, for the order of a table, of what was not measured."""


def once(record: Record) -> str:
    """Loading, and memory."""
    cpu = summary.ones(record, "load", "cpu")
    model, added = (summary.ones(record, "memory", key) for key in ("model", "added"))
    size = next((s["bytes"] for s in record["samples"] if s["measure"] == "memory"), 0)
    kinds = (
        ("load, ms", cpu, "load", 1e3),
        ("model, MiB", model, "memory", 1 / (1 << 20)),
        (f"for {size / 1e6:.3g} MB, MiB", added, "memory", 1 / (1 << 20)),
    )
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in [*cpu, *model]):
        columns = [
            (head, _number(record, _of(values, encoding), encoding, measure, scale))
            for head, values, measure, scale in kinds
        ]
        title = f"Load {encoding} and encode once, after the imports (processor time); resident memory"
        blocks.append(table(record, title, columns, _order(_of(cpu, encoding))))
    return "\n\n".join(blocks)


def _of(values: dict[tuple[str, str], Numbers], encoding: str) -> Numbers:
    return next((found for at, found in values.items() if at[0] == encoding), {})


def _order(seconds: Numbers) -> Callable[[str], float]:
    return lambda name: seconds.get(name, LAST)


def _number(record: Record, values: dict[str, float], encoding: str, measure: str, scale: float) -> Cell:
    def cell(name: str) -> str:
        if name in values:
            number = values[name] * scale
            return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"
        wrong = any(e["library"] == name and e["measure"] == measure for e in record["left_out"])
        return "!" if wrong else NOTHING

    return cell


def fresh(record: Record) -> str:
    times = summary.ones(record, "fresh", "cpu")
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in times):
        here = {text: found for (of, text), found in times.items() if of == encoding}
        columns = [(text, _printed({n: s * 1e3 for n, s in found.items()}, "{:,.0f}")) for text, found in here.items()]
        title = f"A fresh process that imports, loads {encoding} and encodes: milliseconds of processor time"
        blocks.append(table(record, title, columns, _order(next(iter(here.values())))))
    return "\n\n".join(blocks)


def pathological(record: Record) -> str:
    times = summary.ones(record, "pathological", "cpu")
    entries = [(e["encoding"], e["text"]) for e in record["left_out"] if e["measure"] == "pathological"]
    asked = list(dict.fromkeys([*times, *entries]))
    blocks = []
    for encoding in dict.fromkeys(at[0] for at in asked):
        columns = [(text, _hard(record, times, encoding, text)) for e, text in asked if e == encoding]
        size = record["options"]["pathological_bytes"]
        title = f"{size / 1e6:g} MB of one kind, {encoding}: milliseconds of processor time"
        limit = record["options"]["pathological_seconds"]
        here = [times.get(at, {}) for at in asked if at[0] == encoding]
        total = {name: sum(found.get(name, limit) for found in here) for name in record["libraries"]}
        blocks.append(table(record, title, columns, _order(total)))
    return "\n\n".join(blocks)


def _hard(record: Record, times: dict[tuple[str, str], dict[str, float]], encoding: str, text: str) -> Cell:
    right = summary.right_digest(record, encoding, text)

    def cell(name: str) -> str:
        if name in times.get((encoding, text), {}):
            if summary.digests(record, encoding, text)[name] != right:
                return "other ids"
            return f"{times[encoding, text][name] * 1e3:,.3g}".replace("e+03", "k")
        why = summary.why_not(record, name, encoding, "pathological", text)
        if why is None:
            return NOTHING
        if why.startswith("took more"):
            return f"> {record['options']['pathological_seconds']:g} s"
        return "crash" if why.startswith(("crashed", "ended")) else "refuses" if "Error" in why else "fails"

    return cell


def train(record: Record) -> str:
    times, walls = summary.ones(record, "train", "cpu"), summary.ones(record, "train", "wall")
    blocks = []
    for at, found in times.items():
        shared = {s["library"]: s["shared"] for s in record["samples"] if s["text"] == at[1] and "shared" in s}
        columns = [
            ("processor, s", _printed(found, "{:.2f}")),
            ("clock, s", _printed(walls[at], "{:.2f}")),
            ("tokens as bpelab's", _printed(shared, "{:.1%}")),
        ]
        title = f"Train {at[1]}, GPT-2's pattern, one thread; reading the file included"
        blocks.append(table(record, title, columns, _order(found)))
    return "\n\n".join(blocks)


def _printed(values: Numbers, form: str) -> Cell:
    return lambda name: form.format(values[name]) if name in values else NOTHING
