"""The report of a run: all tables, in plain text."""

from . import summary, tables_isolated, tables_paired
from .record import Record


def report(record: Record) -> str:
    """Return all tables of a record, with what they mean and what is missing from them."""
    blocks = [_head(record)]
    rows = summary.speeds(record)
    for encoding in dict.fromkeys(row.encoding for row in rows):
        texts = dict.fromkeys(row.text for row in rows if row.encoding == encoding)
        blocks += [block for text in texts if (block := tables_paired.encode(record, rows, encoding, text))]
        blocks += [block for text in texts if (block := tables_paired.many_texts(record, rows, encoding, text))]
    blocks += [
        tables_isolated.load_and_memory(record),
        tables_isolated.fresh_process(record),
        tables_isolated.pathological(record),
        tables_isolated.train(record, "train"),
        tables_isolated.train(record, "superwords"),
        _left_out(record),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _head(record: Record) -> str:
    machine, baseline = record["machine"], record["baseline"]
    load = ", ".join(f"{number:.2f}" for number in machine["load_average"] or []) or "unknown"
    lines = [
        f"{record['what']}, {record['date']}",
        f"{machine['cpu']}, {machine['cores']} cores, load {load}; {machine['system']}; Python {machine['python']}",
        "  ".join(f"{name} {one['version']}" for name, one in record["libraries"].items() if not one["obstacle"]),
    ]
    missing = [f"{name} ({one['obstacle']})" for name, one in record["libraries"].items() if one["obstacle"]]
    lines += [f"not measured: {', '.join(missing)}"] if missing else []
    lines += [f"text {text['name']}: {text['source']}, {text['bytes'] / 1e6:.1f} MB" for text in record["texts"]]
    lines += [f"note: {note}" for note in record["notes"]]
    lines += [
        "",
        f"MB per second of processor time, and in brackets how many times as fast as {baseline} in the same rounds:",
        "median ± half of what lies between the quartiles. Ids were compared before; - is not measured, ! see the end.",
        "cold: a fresh object's first text; unseen: new text after a warm-up on other text, 12 MB or 5 s at most;",
        "again: the same once more.",
    ]
    return "\n".join(lines)


def _left_out(record: Record) -> str:
    """List what went wrong, once for each library and reason."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for entry in record["left_out"]:
        doing = entry["doing"] if entry["measure"] in ("", "check") else entry["measure"]
        where = " ".join(filter(None, [entry["encoding"], entry["text"], doing]))
        grouped.setdefault((entry["library"], entry["why"]), []).append(where)
    lines = []
    for (library, why), places in grouped.items():
        more = f" and {len(places) - 3} more" if len(places) > 3 else ""
        lines.append(f"  {library}: {why} ({'; '.join(dict.fromkeys(places[:3]))}{more})")
    return "\n".join(["Left out", *lines]) if lines else ""
