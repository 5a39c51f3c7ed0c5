"""Measures for which a library has a process of its own: loading, memory, training, and what may end the process."""

import hashlib
import pickle
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from ..no_collection import no_collection
from .checking import flat
from .memory import Memory
from .peers import PEERS, Peer, Vocabulary
from .rounds import START, encoder
from .steps import Step
from .timing import timed

if TYPE_CHECKING:
    from .worker import Worker


def _b64(size: int) -> str:
    return b64encode(Random(3).randbytes(size * 3 // 4)).decode()


PATHOLOGICAL: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "newlines": lambda size: "\n" * size,
    "dashes": lambda size: "-" * size,
    "equals signs": lambda size: "=" * size,
    "digits": lambda size: "".join(Random(1).choices("0123456789", k=size)),
    "random letters": lambda size: "".join(Random(2).choices("abcdefghijklmnopqrstuvwxyz", k=size)),
    "base64": _b64,
    "ACGT": lambda size: "".join(Random(4).choices("ACGT", k=size)),
}
"""Inputs on which some libraries take minutes: name -> a text of so many bytes."""


def load(worker: "Worker", step: Step) -> None:
    """Load the vocabulary and encode a few words, after the imports."""
    for name in worker.able(step):
        import_all(worker, name)

        with no_collection():
            tell_times(worker, step, name, partial(start, PEERS[name], worker.job.vocabulary))


def start(peer: type[Peer], vocabulary: Vocabulary) -> list[int]:
    """Load a vocabulary and use it."""
    ids: list[int] = peer(vocabulary).encode_list(START)
    return ids


def memory(worker: "Worker", step: Step) -> None:
    """Resident memory: what a loaded vocabulary takes, and how much more there is at most while a text is encoded."""
    for name in worker.able(step):
        (text,) = worker.material(step.text)[1]
        import_all(worker, name)
        meter = Memory()
        before = meter.now()
        peer = worker.load(name)
        if peer is None or worker.attempt(name, "encode", peer.encode_list, START) is None:
            continue
        model = meter.now()
        meter.restart()
        ids = worker.attempt(name, "encode", best(peer), text)
        if ids is not None:
            peak = meter.peak()
            facts = {"measure": "memory", "text": step.text, "output": "array" if peer.does("array") else "list"}
            added = max(peak - model, 0)
            worker.tell("sample", library=name, **facts, bytes=len(text.encode()), model=model - before, added=added)


def best(peer: Peer) -> Callable[[str], Any]:
    """The call for an array where there is one, and else that for a list."""
    return encoder(peer, "array" if peer.does("array") else "list")


def pathological(worker: "Worker", step: Step) -> None:
    """One of PATHOLOGICAL: its ids as a digest, and their number."""
    for name in worker.able(step):
        text = PATHOLOGICAL[step.text](worker.job.values["pathological bytes"])
        peer = worker.load(name)
        if peer is None:
            continue
        worker.attempt(name, "warm up", best(peer), START)
        ids = tell_times(worker, step, name, partial(best(peer), text), bytes=len(text))
        if ids is not None:
            array = flat([ids])
            worker.tell(
                "digest",
                library=name,
                text=step.text,
                digest=hashlib.sha256(array.tobytes()).hexdigest(),
                tokens=len(array),
            )


def train(worker: "Worker", step: Step) -> None:
    """Learn a vocabulary of so many tokens from a file; it is left in a file, to be compared."""
    size = worker.job.values["vocabulary"]
    for name in worker.able(step):
        import_all(worker, name)
        path, peer = worker.job.material[step.text], PEERS[name]
        tokens = tell_times(
            worker, step, name, partial(peer.train, path, size), bytes=Path(path).stat().st_size, size=size
        )
        if tokens is not None:
            Path(worker.job.folder, f"tokens-{step.text}-{name}").write_bytes(pickle.dumps(sorted(tokens)))


def import_all(worker: "Worker", name: str) -> None:
    """Import a library, numpy, and what the library would import later."""
    peer = PEERS[name]
    for module in (*peer.needs, peer.module, *peer.imports):
        worker.attempt(name, "import", import_module, module)


def tell_times(worker: "Worker", step: Step, name: str, call: Callable[[], Any], **facts: Any) -> Any:
    """Time one call and tell it; what it returned, None if it raised."""
    done = worker.attempt(name, step.measure, timed, call)
    if done is None:
        return None
    result, cpu, wall = done
    about = {"measure": step.measure, "text": step.text, "output": step.output}
    worker.tell("sample", library=name, **about, cpu=cpu, wall=wall, **facts)
    return result
