"""Jobs for worker processes: lists of steps, each of them one row of a table."""

from dataclasses import asdict, dataclass, field
from typing import Any

from .peers.base import Vocabulary


@dataclass(frozen=True)
class Step:
    """One thing to measure.

    Attributes:
        measure: "check", "cold", "warm", "calls", "documents", "batch", "decode", "load", "fresh", "memory",
            "pathological", "train", "superwords".
        text: the name of a text, or of a pathological input.
        output: a key of `Peer.calls`; "" for measures that have only one kind of call.
        threads: how many may be used.
    """

    measure: str
    text: str
    output: str = ""
    threads: int = 1

    @property
    def capability(self) -> str:
        """The capability that a library needs for this step, a key of `Peer.calls`."""
        same = {"load": "list", "fresh": "fresh", "train": "train", "superwords": "superwords"}
        return {"calls": "list", "documents": "list", **same}.get(self.measure, self.output)


@dataclass
class Job:
    """The work of one process: every step, for all libraries.

    Attributes:
        text_files: the name of a text -> a JSON file with the strings to encode, "warm" and "parts".
        folder: files that processes share: expected ids, learned tokens.
        excluded: (library, step) pairs to skip, because they differed, failed or crashed before.
        values: numbers that a measure needs, such as the size of a vocabulary.
        memory_limit: of the process's address space, in bytes; None for no limit.
    """

    vocabulary: Vocabulary
    peers: list[str]
    steps: list[Step]
    text_files: dict[str, str]
    folder: str
    excluded: list[tuple[str, Step]] = field(default_factory=list)
    values: dict[str, int] = field(default_factory=dict)
    memory_limit: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Job":
        """Restore a job from the dictionary that `to_json` returned."""
        steps = [Step(**step) for step in data["steps"]]
        excluded = [(name, Step(**step)) for name, step in data["excluded"]]
        return cls(**{**data, "vocabulary": Vocabulary(**data["vocabulary"]), "steps": steps, "excluded": excluded})
