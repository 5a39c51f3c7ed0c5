"""Measures that run each library in its own process: loading, memory, training, pathological inputs."""

import hashlib
import pickle
from base64 import b64encode
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from .._support.gc_paused import gc_paused
from .checking import flatten
from .job import Step
from .memory import MemoryMeter
from .paired_measures import WARM_UP_TEXT, encode_call
from .peers import PEERS, Peer, Vocabulary
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
"""Inputs on which some libraries take minutes: name -> a function from a size in bytes to a text."""


def load(worker: "Worker", step: Step) -> None:
    """Time loading the vocabulary and encoding a few words, after the imports."""
    for name in worker.participants(step):
        import_all(worker, name)

        with gc_paused():
            emit_time(worker, step, name, partial(load_and_encode, PEERS[name], worker.job.vocabulary))


def load_and_encode(peer: type[Peer], vocabulary: Vocabulary) -> list[int]:
    """Load a vocabulary and encode a few words with it."""
    ids: list[int] = peer(vocabulary).encode_list(WARM_UP_TEXT)
    return ids


def memory(worker: "Worker", step: Step) -> None:
    """Measure resident memory: that of a loaded vocabulary, and the peak beyond it while a text is encoded."""
    for name in worker.participants(step):
        (text,) = worker.read_parts(step.text)[1]
        import_all(worker, name)
        meter = MemoryMeter()
        before = meter.current()
        peer = worker.load(name)
        if peer is None or worker.run_guarded(name, "encode", peer.encode_list, WARM_UP_TEXT) is None:
            continue
        model = meter.current()
        meter.restart()
        ids = worker.run_guarded(name, "encode", preferred_call(peer), text)
        if ids is not None:
            peak = meter.peak()
            facts = {"measure": "memory", "text": step.text, "output": "array" if peer.supports("array") else "list"}
            added = max(peak - model, 0)
            worker.emit("sample", library=name, **facts, bytes=len(text.encode()), model=model - before, added=added)


def preferred_call(peer: Peer) -> Callable[[str], Any]:
    """Return the call that encodes to an array, or, for a library without one, to a list."""
    return encode_call(peer, "array" if peer.supports("array") else "list")


def pathological(worker: "Worker", step: Step) -> None:
    """Time one of PATHOLOGICAL; report the digest of its ids and their count."""
    for name in worker.participants(step):
        text = PATHOLOGICAL[step.text](worker.job.values["pathological bytes"])
        peer = worker.load(name)
        if peer is None:
            continue
        worker.run_guarded(name, "warm up", preferred_call(peer), WARM_UP_TEXT)
        ids = emit_time(worker, step, name, partial(preferred_call(peer), text), bytes=len(text))
        if ids is not None:
            array = flatten([ids])
            worker.emit(
                "digest",
                library=name,
                text=step.text,
                digest=hashlib.sha256(array.tobytes()).hexdigest(),
                tokens=len(array),
            )


def train(worker: "Worker", step: Step) -> None:
    """Time training on a file, of superwords too; the learned tokens are written to another file, to be compared."""
    size = worker.job.values["vocabulary"]
    for name in worker.participants(step):
        import_all(worker, name)
        path, peer = worker.job.text_files[step.text], PEERS[name]
        learn = peer.train if step.measure == "train" else peer.train_superwords
        tokens = emit_time(worker, step, name, partial(learn, path, size), bytes=Path(path).stat().st_size, size=size)
        if tokens is not None:
            Path(worker.job.folder, f"tokens-{step.text}-{name}").write_bytes(pickle.dumps(sorted(tokens)))


def import_all(worker: "Worker", name: str) -> None:
    """Import a library, numpy, and what the library would import later."""
    peer = PEERS[name]
    for module in (*peer.requires, peer.module, *peer.imports):
        worker.run_guarded(name, "import", import_module, module)


def emit_time(worker: "Worker", step: Step, name: str, call: Callable[[], Any], **facts: Any) -> Any:
    """Time one call and emit the sample; return the call's result, or None if it raised."""
    done = worker.run_guarded(name, step.measure, timed, call)
    if done is None:
        return None
    result, cpu, wall = done
    about = {"measure": step.measure, "text": step.text, "output": step.output}
    worker.emit("sample", library=name, **about, cpu=cpu, wall=wall, **facts)
    return result
