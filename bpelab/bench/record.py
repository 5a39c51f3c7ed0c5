"""The record of a run, as JSON: machine, versions, options, texts, and every sample."""

import json
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from .. import __version__
from ..errors import BPELabError
from .machine import machine
from .peers import PEERS, Peer
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


def _library(peer: type[Peer]) -> dict[str, Any]:
    return {"version": peer.version(), "obstacle": peer.why_unavailable(), "calls": peer.calls, "lacks": peer.lacks}


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
