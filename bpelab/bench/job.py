"""What one process is asked to do: steps, each of them one row of the table."""

from dataclasses import asdict, dataclass, field
from typing import Any

from .peers.base import Vocabulary


@dataclass(frozen=True)
class Step:
    """One thing to measure.

    Attributes:
        measure: "check", "cold", "warm", "calls", "documents", "batch", "decode", "load", "fresh", "memory",
            "pathological", "train".
        text: the name of a text, or of a pathological input.
        output: what is asked of a library, as in `Peer.calls`; "" where that says nothing.
        threads: how many may be used.
    """

    measure: str
    text: str
    output: str = ""
    threads: int = 1

    @property
    def asks(self) -> str:
        """What a library has to be able to do, as in `Peer.calls`."""
        same = {"load": "list", "fresh": "fresh", "train": "train"}
        return {"calls": "list", "documents": "list", **same}.get(self.measure, self.output)


@dataclass
class Job:
    """What a process does: for every step, all libraries.

    Attributes:
        material: the name of a text -> a JSON file with the strings to encode, "warm" and "parts".
        folder: for what is handed from process to process: ids to compare with, learned tokens.
        without: (library, step) pairs to leave out: what differed, failed or crashed before.
        values: numbers that a measure needs, such as the size of a vocabulary.
    """

    vocabulary: Vocabulary
    peers: list[str]
    steps: list[Step]
    material: dict[str, str]
    folder: str
    without: list[tuple[str, Step]] = field(default_factory=list)
    values: dict[str, int] = field(default_factory=dict)
    memory_limit: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Job":
        """What `to_json` gave."""
        steps = [Step(**step) for step in data["steps"]]
        without = [(name, Step(**step)) for name, step in data["without"]]
        return cls(**{**data, "vocabulary": Vocabulary(**data["vocabulary"]), "steps": steps, "without": without})
