"""The record of a run: what was measured, on what, with what; as JSON, all of it."""

import os
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from .. import __version__
from ..documents import thread_count
from ..errors import BPELabError
from .peers import BASELINE, PEERS, obstacle, version
from .plan import Plan
from .texts import Text

FORMAT = 1
Record = dict[str, Any]


def begin(plan: Plan, texts: list[Text]) -> Record:
    """A record with nothing measured yet."""
    return {
        "format": FORMAT,
        "what": "bpelab bench",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "bpelab": __version__,
        "baseline": BASELINE,
        "machine": machine(),
        "packages": dict(sorted((d.name, d.version) for d in metadata.distributions() if d.name)),
        "options": asdict(plan),
        "libraries": {
            name: {"version": version(peer), "obstacle": obstacle(peer), "calls": peer.calls, "lacks": peer.lacks}
            for name, peer in PEERS.items()
        },
        "texts": [{"name": text.name, "source": text.source, "bytes": text.bytes} for text in texts],
        "samples": [],
        "left_out": [],
        "notes": [],
    }


def machine() -> dict[str, Any]:
    """The machine and what it was doing."""
    return {
        "cpu": cpu(),
        "cores": thread_count(None),
        "load_average": load_average(),
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": sys.version.split()[0],
    }


def cpu() -> str:
    """The processor's name, as far as the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n")
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def load_average() -> list[float] | None:
    """How many processes wanted to run in the last 1, 5 and 15 minutes; None where nobody counts."""
    try:
        return [round(number, 2) for number in os.getloadavg()]
    except (AttributeError, OSError):
        return None


def checked(record: Any) -> Record:
    """A record read from JSON. Raises BPELabError for what is none."""
    if not isinstance(record, dict) or record.get("what") != "bpelab bench" or record.get("format") != FORMAT:
        raise BPELabError(f"this is no record of `bpelab bench --json` of format {FORMAT}")
    return record
