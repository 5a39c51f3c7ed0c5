"""The record of a run, as JSON: machine, versions, options, texts, samples; and the medians that tables show of it.

On a shared machine, the load may change between the measurements of two libraries. So within a round all libraries
run one after the other on the same text, ratios are taken within a round, and the result is the median of the rounds'
ratios with its quartiles.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from statistics import median, quantiles
from typing import Any, NamedTuple

from .. import __version__
from ..errors import BPELabError
from .library import Library
from .machine import machine
from .peers import PEERS
from .plan import Plan
from .texts import Text

FORMAT = 2
Record = dict[str, Any]


def new_record(plan: Plan, texts: list[Text]) -> Record:
    """Return a record with nothing measured yet."""
    return {
        "format": FORMAT,
        "what": "bpelab bench",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "bpelab": __version__,
        "baselines": {},
        "machine": machine(),
        "packages": dict(sorted((d.name, d.version) for d in metadata.distributions() if d.name)),
        "options": asdict(plan),
        "libraries": {name: _library(peer) for name, peer in PEERS.items()},
        "texts": [{"name": text.name, "source": text.source, "bytes": text.bytes} for text in texts],
        "samples": [],
        "left_out": [],
        "notes": [],
    }


def _library(library: Library) -> dict[str, Any]:
    return {"version": library.version(), "obstacle": library.why_unavailable(), "calls": library.described()}


def to_json(record: Record) -> str:
    """Convert a record to JSON, with each sample on a separate line."""
    head = json.dumps({**record, "samples": []}, indent=1, ensure_ascii=False)
    samples = ",\n  ".join(json.dumps(sample, ensure_ascii=False) for sample in record["samples"])
    return head.replace('"samples": []', f'"samples": [\n  {samples}\n ]') + "\n"


def validate(record: Any) -> Record:
    """Return a record read from JSON. Raises BPELabError for anything else."""
    if not isinstance(record, dict) or record.get("what") != "bpelab bench" or record.get("format") != FORMAT:
        raise BPELabError(f"this is not a record of `bpelab bench --json` of format {FORMAT}")
    return record


class Spread(NamedTuple):
    """A median and its quartiles."""

    median: float
    low: float
    high: float


class Row(NamedTuple):
    """One comparison: a measure on a text, for one encoding and one kind of output."""

    encoding: str
    measure: str
    text: str
    output: str
    threads: int


class Speed(NamedTuple):
    """How fast a library is.

    Attributes:
        rate: MB per second, of processor time, or of wall time for batches.
        times: the ratio to the baseline's speed, from paired rounds; None without a baseline to compare with.
        call: seconds per call, for measures of many calls.
    """

    rate: float
    times: Spread | None
    call: float | None


def spread(values: list[float]) -> Spread:
    """Return the median and quartiles; for two values or one, the minimum and maximum instead of quartiles.

    >>> spread([4.0, 1.0, 2.0, 3.0, 5.0])
    Spread(median=3.0, low=2.0, high=4.0)
    """
    if len(values) < 3:
        return Spread(median(values), min(values), max(values))
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return Spread(middle, low, high)


def paired_ratio(own: Mapping[int, float], baseline: Mapping[int, float]) -> Spread | None:
    """Return the ratio of two speeds over their common rounds; None if they have none.

    A slow round slows both and leaves its ratio unchanged; the ratio of the two medians would be 20 / 10 here.

    >>> paired_ratio({0: 30.0, 1: 20.0, 2: 3.0}, {0: 10.0, 1: 10.0, 2: 1.0})
    Spread(median=3.0, low=2.5, high=3.0)
    """
    ratios = [own[index] / baseline[index] for index in sorted(own) if index in baseline]
    return spread(ratios) if ratios else None


def speeds(record: Record) -> dict[Row, dict[str, Speed]]:
    """Compute the speed of each library in each row."""
    seconds: dict[Row, dict[str, dict[int, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for sample in record["samples"]:
        if "round" in sample and sample["measure"] != "load":
            row = Row(sample["encoding"], *(sample[key] for key in ("measure", "text", "output", "threads")))
            seconds[row][sample["library"]][sample["round"]] = sample
    return {row: _row(row, libraries, record["baselines"][row.encoding]) for row, libraries in seconds.items()}


def _row(row: Row, libraries: dict[str, dict[int, dict[str, Any]]], baseline: str) -> dict[str, Speed]:
    clock = "wall" if row.measure == "batch" else "cpu"
    rates = {
        name: {index: sample["bytes"] / max(sample[clock], 1e-9) / 1e6 for index, sample in rounds.items()}
        for name, rounds in libraries.items()
    }
    speeds_of = {}
    for name, rounds in libraries.items():
        calls = [sample["cpu"] / sample["calls"] for sample in rounds.values() if sample.get("calls")]
        call = spread(calls).median if calls else None
        times = paired_ratio(rates[name], rates[baseline]) if baseline in rates else None
        speeds_of[name] = Speed(spread(list(rates[name].values())).median, times, call)
    return speeds_of


def single_measures(record: Record, measure: str, key: str) -> dict[tuple[str, str], dict[str, float]]:
    """Summarise an unpaired measure: (encoding, text) -> library -> the median of `key`, such as "cpu" or "model"."""
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for sample in record["samples"]:
        if sample["measure"] == measure:
            values[sample["encoding"], sample["text"]][sample["library"]].append(sample[key])
    return {at: {name: spread(some).median for name, some in found.items()} for at, found in values.items()}


def digests(record: Record, encoding: str, text: str) -> dict[str, str]:
    """Return the digest of each library's ids for a pathological input."""
    return {
        sample["library"]: sample["digest"]
        for sample in record["samples"]
        if sample["measure"] == "pathological" and (sample["encoding"], sample["text"]) == (encoding, text)
    }


def right_digest(record: Record, encoding: str, text: str) -> str | None:
    """Return the baseline's digest; if the baseline failed, the most frequent digest, or None if there are none."""
    found = digests(record, encoding, text)
    if record["baselines"][encoding] in found:
        return found[record["baselines"][encoding]]
    return max(found.values(), key=list(found.values()).count, default=None)


def missing_reason(record: Record, library: str, encoding: str, measure: str, text: str) -> str | None:
    """Return why a library is missing from a row, or None if nothing went wrong."""
    for entry in record["left_out"]:
        same = entry["measure"] in ("", measure) and entry["text"] in ("", text)
        if same and (entry["library"], entry["encoding"]) == (library, encoding):
            return str(entry["why"])
    return None
