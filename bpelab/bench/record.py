"""The record of a run, as JSON: machine, versions, options, texts, and every sample."""

import os
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.batch import thread_count
from ..errors import BPELabError
from .peers import BASELINE, PEERS, Peer, version, why_unavailable
from .plan import Plan
from .texts import Text

FORMAT = 1
Record = dict[str, Any]


def new_record(plan: Plan, texts: list[Text]) -> Record:
    """Return a record with nothing measured yet."""
    return {
        "format": FORMAT,
        "what": "bpelab bench",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "bpelab": __version__,
        "baseline": BASELINE,
        "machine": machine(),
        "packages": dict(sorted((d.name, d.version) for d in metadata.distributions() if d.name)),
        "options": asdict(plan),
        "libraries": {name: _library(peer) for name, peer in PEERS.items()},
        "texts": [{"name": text.name, "source": text.source, "bytes": text.bytes} for text in texts],
        "samples": [],
        "left_out": [],
        "notes": [],
    }


def _library(peer: type[Peer]) -> dict[str, Any]:
    return {"version": version(peer), "obstacle": why_unavailable(peer), "calls": peer.calls, "lacks": peer.lacks}


def machine() -> dict[str, Any]:
    """Describe the machine and its load."""
    return {
        "cpu": cpu_name(),
        "cores": thread_count(None),
        "load_average": load_average(),
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": sys.version.split()[0],
    }


def cpu_name() -> str:
    """Return the processor's name, as far as the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n")
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def load_average() -> list[float] | None:
    """Return the load averages of the last 1, 5 and 15 minutes; None where the system has none."""
    try:
        return [round(load, 2) for load in os.getloadavg()]
    except (AttributeError, OSError):
        return None


def validate(record: Any) -> Record:
    """Return a record read from JSON. Raises BPELabError for anything else."""
    if not isinstance(record, dict) or record.get("what") != "bpelab bench" or record.get("format") != FORMAT:
        raise BPELabError(f"this is not a record of `bpelab bench --json` of format {FORMAT}")
    return record
