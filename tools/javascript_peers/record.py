"""The record of a run, as JSON, and the tables that the package's README shows of it.

Within a round all libraries encoded the same text, one after the other. So ratios are taken within a round, and the
result is the median of the rounds' ratios, as in `bpelab bench`.
"""

import json
import re
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

import bpelab
from bpelab.bench.machine import load_average, machine
from bpelab.bench.record import paired_ratio, spread
from bpelab.bench.texts import Text

from .measure import BAD_TEXTS, LOAD, Run

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bpelab" / "native" / "javascript"
RECORD = ROOT / "book" / "javascript_speeds_record.json"
README = PACKAGE / "README.md"
PLACE = re.compile(r"(?<=^<!-- speeds -->\n).*?(?=^<!-- /speeds -->$)", re.MULTILINE | re.DOTALL)
OURS = "bpelab"
Record = dict[str, Any]


def new_record(run: Run, texts: list[Text]) -> Record:
    """Return a record with nothing measured yet."""
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return {
        "about": "Written by `python -m tools.javascript_peers --record`; cpu and wall: seconds, for each round",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "bpelab": bpelab.__version__,
        "node": node,
        "machine": machine(),
        "plan": asdict(run.plan),
        "libraries": {peer.name: {"version": peer.version, "part": peer.part} for peer in run.peers},
        "texts": [{"name": text.name, "source": text.source, "bytes": text.bytes} for text in texts],
    }


def finish(record: Record, run: Run) -> Record:
    """Return the record with what the run has measured."""
    samples = [
        {"encoding": encoding, "row": row, "library": name}
        | {key: [one[key] for one in times] for key in ("cpu", "wall", "bytes", "calls") if key in times[0]}
        for (encoding, row, name), times in run.samples.items()
    ]
    load = {"load_average_at_the_end": load_average()}
    return {**record, "machine": record["machine"] | load, "left_out": run.left_out, "samples": samples}


def to_json(record: Record) -> str:
    """Convert a record to JSON, with each sample on a line."""
    head = json.dumps({**record, "samples": []}, indent=1, ensure_ascii=False)
    lines = ",\n  ".join(json.dumps(sample, ensure_ascii=False) for sample in record["samples"])
    return head.replace('"samples": []', f'"samples": [\n  {lines}\n ]') + "\n"


def write(record: Record) -> None:
    """Keep the record, and show it in the package's README."""
    RECORD.write_text(to_json(record), "utf-8", newline="\n")
    shown = PLACE.sub(lambda _: tables(record), README.read_text("utf-8"))
    README.write_text(shown, "utf-8", newline="\n")


def tables(record: Record) -> str:
    """Return the record in Markdown: a table for each encoding, and what the numbers mean."""
    encodings = dict.fromkeys(sample["encoding"] for sample in record["samples"])
    about = record["machine"]
    load = max(*about["load_average"], *about["load_average_at_the_end"])
    lines = [
        f"{_headline(record)} Measured with node {record['node'].removeprefix('v')} on {about['cpu']}, "
        f"{about['cores']} cores with a load of up to {load:.1f}, on {record['date'][:10]}: medians of "
        f"{record['plan']['rounds']} rounds in which all libraries encode the same new text, one after the other, in "
        f"processes of their own, by processor time. In brackets: how many times as fast as that library bpelab is. "
        f"Ids were compared before, and *other ids* stands where they differ from tiktoken's. Loading includes the "
        f"import of the library and the first sentence; bpelab reads OpenAI's file, @huggingface/tokenizers a "
        f"tokenizer.json, and the others bring theirs.{_shortened(record)}",
        "",
    ]
    for encoding in encodings:
        lines += [*_table(record, encoding), ""]
    return "\n".join(lines)


def _shortened(record: Record) -> str:
    """Return a sentence about the libraries that encode a part of each text."""
    parts = [f"{name} (1/{one['part']})" for name, one in record["libraries"].items() if one["part"] > 1]
    return f" Too slow for whole texts, so that they encode a part of each: {', '.join(parts)}." if parts else ""


def _headline(record: Record) -> str:
    closest = [min(ratios.values(), default=inf) for ratios in _all_ratios(record).values()]  # inf: no other finished
    ahead = [ratio for ratio in closest if ratio > 1]
    by_three = [ratio for ratio in closest if ratio >= 3]
    return (
        f"bpelab is the fastest of {len(record['libraries'])} libraries in {len(ahead)} of {len(closest)} rows, and "
        f"three times as fast as the next one, or more, in {len(by_three)}."
    )


def _all_ratios(record: Record) -> dict[tuple[str, str], dict[str, float]]:
    """Return (encoding, row) -> library -> how many times as fast as it bpelab is."""
    seconds: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for sample in record["samples"]:
        sizes = sample.get("bytes", [1] * len(sample["cpu"]))
        rates = {at: size / max(cpu, 1e-9) for at, (size, cpu) in enumerate(zip(sizes, sample["cpu"]))}
        seconds.setdefault((sample["encoding"], sample["row"]), {})[sample["library"]] = rates
    ratios = {}
    for at, rates in seconds.items():
        others = {name: paired_ratio(rates[OURS], own) for name, own in rates.items() if OURS in rates and name != OURS}
        ratios[at] = {name: times.median for name, times in others.items() if times is not None}
    return ratios


def _table(record: Record, encoding: str) -> list[str]:
    of_encoding = [sample for sample in record["samples"] if sample["encoding"] == encoding]
    samples = {(sample["row"], sample["library"]): sample for sample in of_encoding}
    faults = {(fault["row"], fault["library"]): fault for fault in record["left_out"] if fault["encoding"] == encoding}
    ratios, names = _all_ratios(record), list(record["libraries"])
    lines = [f"| {encoding} | " + " | ".join(f"{name} {record['libraries'][name]['version']}" for name in names) + " |"]
    lines += ["| --- |" + " ---: |" * len(names)]
    for row in dict.fromkeys(row for row, _ in [*samples, *faults]):
        times = ratios.get((encoding, row), {})
        cells = [_cell(row, samples.get((row, name)), times.get(name), faults.get((row, name))) for name in names]
        lines.append(f"| {_title(row, record['plan']['part'])} | {' | '.join(cells)} |")
    return lines


def _title(row: str, size: int) -> str:
    if row == LOAD:
        return "load, ms"
    return f"{size / 1e6:g} MB of {row}, ms" if row in BAD_TEXTS else f"{row}, MB/s"


def _cell(row: str, sample: Record | None, times: float | None, fault: Record | None) -> str:
    if fault is not None:
        return _fault_cell(fault["why"])
    if sample is None:
        return "-"
    if row == LOAD or row in BAD_TEXTS:
        number = spread(sample["cpu"]).median * 1e3
        shown = f"{number:,.0f}" if number >= 10 else f"{number:.1f}"
    else:
        shown = f"{spread([size / cpu / 1e6 for size, cpu in zip(sample['bytes'], sample['cpu'])]).median:.3g}"
    if times is None:
        return shown
    return f"{shown} ({times:.{2 if times < 0.95 else 1 if times < 20 else 0}f}x)"


def _fault_cell(why: str) -> str:
    """Return a failure in a word: "other ids", "> 3 s", "fails".

    >>> _fault_cell("took more than 3 s"), _fault_cell("RangeError: Invalid array length")
    ('> 3 s', 'fails')
    """
    if why.startswith("took more than "):
        return why.replace("took more than", ">")
    return why if why == "other ids" else "fails"
