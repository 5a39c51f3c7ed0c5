"""The report of a run: all tables, in plain text, and a figure of each library's encoding speed on unseen text."""

from pathlib import Path
from typing import Any

from ..errors import BPELabError
from ..notebook.plotting import COLOURS, GREY, pyplot
from . import record as records, tables
from .record import Record, Row, Speed, speeds


def report(record: Record) -> str:
    """Return all tables of a record, with an explanation and a list of what is missing."""
    blocks = [_head(record)]
    rows = records.speeds(record)
    for encoding in dict.fromkeys(row.encoding for row in rows):
        texts = dict.fromkeys(row.text for row in rows if row.encoding == encoding)
        blocks += [block for text in texts if (block := tables.encode(record, rows, encoding, text))]
        blocks += [block for text in texts if (block := tables.many_texts(record, rows, encoding, text))]
    blocks += [
        tables.load_and_memory(record),
        tables.fresh_process(record),
        tables.pathological(record),
        tables.train(record, "train"),
        tables.train(record, "superwords"),
        _left_out(record),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _head(record: Record) -> str:
    machine = record["machine"]
    load = ", ".join(f"{number:.2f}" for number in machine["load_average"] or []) or "unknown"
    lines = [
        f"{record['what']}, {record['date']}",
        f"{machine['cpu']}, {machine['cores']} cores, load {load}; {machine['system']}; Python {machine['python']}",
        "  ".join(f"{name} {one['version']}" for name, one in record["libraries"].items() if not one["obstacle"]),
    ]
    others = " or ".join(sorted(set(record["baselines"].values()), reverse=True)) or "tiktoken"
    pinned = "each process pinned to as many processors as its row has threads"
    lines += [pinned if machine["pinned"] else "not pinned: libraries may use more processors than a row has threads"]
    sets = " ".join(machine["instruction_sets"] or ["unknown"])
    lines += [f"instruction sets: {sets}; bpelab uses {machine['bpelab_uses'] or 'none, without its extension'}"]
    missing = [f"{name} ({one['obstacle']})" for name, one in record["libraries"].items() if one["obstacle"]]
    lines += [f"not measured: {', '.join(missing)}"] if missing else []
    lines += [f"text {text['name']}: {text['source']}, {text['bytes'] / 1e6:.1f} MB" for text in record["texts"]]
    lines += [f"note: {note}" for note in record["notes"]]
    lines += [
        "",
        f"MB per second of processor time, and in brackets how many times as fast as {others} in the same rounds:",
        "median ± half of what lies between the quartiles. Ids were compared before; - is not measured, ! see the end.",
        "cold: a fresh object's first text; unseen: new text after a warm-up on other text, 12 MB or 5 s at most;",
        "again: the same once more.",
    ]
    return "\n".join(lines)


def _left_out(record: Record) -> str:
    """List the failures, one line per library and reason."""
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


def bench_figure(record: Record, encoding: str | None = None) -> Any:
    """Draw a matplotlib figure: a panel for each text, a bar for each library, and a second bar for arrays.

    `encoding` is the record's first by default. The bars are MB per second of processor time on unseen text; the
    number beside a bar is the ratio to the baseline's speed. Raises BPELabError if there is nothing to draw.
    """
    rows = speeds(record)
    unseen = {row: found for row, found in rows.items() if row.measure == "unseen"}
    encoding = encoding or next((row.encoding for row in unseen), None)
    texts = list(dict.fromkeys(row.text for row in unseen if row.encoding == encoding))
    if encoding is None or not texts:
        raise BPELabError("this record has no speeds of encoding to draw; `bpelab bench --only encode` measures them")
    plt = pyplot()
    outputs = {
        out: {text: unseen.get(Row(encoding, "unseen", text, out, 1), {}) for text in texts}
        for out in ("list", "array")
    }
    first = outputs["list"][texts[0]]
    names = sorted(first, key=lambda name: first[name].rate)
    columns = min(2, len(texts))
    lines = -(-len(texts) // columns)
    figure, panels = plt.subplots(
        lines, columns, sharey=True, sharex=True, squeeze=False, figsize=(8, lines * (0.5 + 0.3 * len(names)))
    )
    for panel, text in zip(panels.flat, texts):
        for offset, (output, found), colour in zip((0.2, -0.2), outputs.items(), COLOURS):
            _bars(panel, names, found[text], offset, colour, f"as {'a list' if output == 'list' else 'an array'}")
        panel.set_title(f"{text}, {encoding}", fontsize=10)
        panel.grid(axis="y", visible=False)
    for panel in panels.flat[len(texts) :]:
        panel.set_visible(False)
    for panel in panels[-1]:
        panel.set_xlabel("MB per second of processor time")
    panels[0, 0].set_yticks(range(len(names)), names)
    panels[0, 0].legend(loc="lower right", fontsize=8)
    machine = record["machine"]
    figure.text(0.01, 0, f"unseen text; {machine['cpu']}; {record['date'][:10]}", fontsize=7, color=GREY)
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    return figure


def save_figure(record: Record, path: Path) -> None:
    """Draw `bench_figure` to a .svg or .png file. Text in an SVG stays text; equal records give equal files."""
    svg = path.suffix == ".svg"
    with pyplot().rc_context({"svg.fonttype": "none", "svg.hashsalt": "bpelab"}):
        bench_figure(record).savefig(path, bbox_inches="tight", metadata={"Date": None} if svg else None)


def _bars(panel: Any, names: list[str], speed: dict[str, Speed], offset: float, colour: str, label: str) -> None:
    positions = [index + offset for index, name in enumerate(names) if name in speed]
    rates = [speed[name].rate for name in names if name in speed]
    panel.barh(positions, rates, height=0.36, color=colour, label=label)
    for y, name in zip(positions, (name for name in names if name in speed)):
        times = speed[name].times
        if times is not None:
            style = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 7, "color": GREY}
            panel.annotate(f"{times.median:.1f}x", (speed[name].rate, y), **style)
