"""Measures that run each library in its own process: loading, memory, training, pathological inputs, fresh processes.

A fresh process is a program of a few lines that imports nothing but the library, loads a vocabulary and encodes a file;
the time of an empty program is subtracted. The first run of each library doesn't count, so files are in the system's
cache, and so are any tables that the library keeps from run to run.
"""

import hashlib
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.gc_paused import gc_paused
from .checking import flatten
from .meters import MemoryMeter, timed
from .paired_measures import WARM_UP_TEXT, encode_call
from .peers import PEERS, Peer, Vocabulary
from .plan import Step
from .texts import PATHOLOGICAL

if TYPE_CHECKING:
    from .worker import Worker

HELLO = "hello world"
RUNS = 5
"""Runs of each program. The shortest counts, since interference can only make a run longer."""
PROGRAM = """
NAME, RANKS, FOLDER, PATTERN, SPECIAL = {vocabulary!r}
{load}
with open({path!r}, encoding="utf-8", newline="") as file:
    ids = encode(file.read())
print(len(ids), ids[0], ids[len(ids) // 2], ids[-1])
"""


def load(worker: "Worker", step: Step) -> None:
    """Time loading the vocabulary and encoding a few words, after the imports."""
    for name in worker.participants(step):
        worker.run_guarded(name, "import", PEERS[name].import_all)

        with gc_paused():
            emit_time(worker, step, name, partial(load_and_encode, PEERS[name], worker.job.vocabulary))


def load_and_encode(peer: type[Peer], vocabulary: Vocabulary) -> list[int]:
    """Load a vocabulary and encode a few words with it."""
    ids: list[int] = peer(vocabulary).encode_list(WARM_UP_TEXT)
    return ids


def memory(worker: "Worker", step: Step) -> None:
    """Measure resident memory: a loaded vocabulary's, and the peak above that while encoding a text."""
    for name in worker.participants(step):
        (text,) = worker.read_parts(step.text)[1]
        worker.run_guarded(name, "import", PEERS[name].import_all)
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
    """Time a pathological input; report the digest and the number of its ids."""
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
    """Time training on a file, with or without superwords; write the learned tokens to another file for comparison."""
    size = worker.job.values["vocabulary"]
    for name in worker.participants(step):
        worker.run_guarded(name, "import", PEERS[name].import_all)
        path, peer = worker.job.text_files[step.text], PEERS[name]
        learn = peer.train if step.measure == "train" else peer.train_superwords
        tokens = emit_time(worker, step, name, partial(learn, path, size), bytes=Path(path).stat().st_size, size=size)
        if tokens is not None:
            Path(worker.job.folder, f"tokens-{step.text}-{name}").write_bytes(pickle.dumps(sorted(tokens)))


def emit_time(worker: "Worker", step: Step, name: str, call: Callable[[], Any], **facts: Any) -> Any:
    """Time one call and emit the sample; return the call's result, or None if it raised."""
    done = worker.run_guarded(name, step.measure, timed, call)
    if done is None:
        return None
    result, cpu, wall = done
    about = {"measure": step.measure, "text": step.text, "output": step.output}
    worker.emit("sample", library=name, **about, cpu=cpu, wall=wall, **facts)
    return result


def fresh(worker: "Worker", step: Step) -> None:
    """Measure the processor time of a process that encodes a file, minus that of an empty one."""
    expected = None
    for name in worker.participants(step):
        found = worker.run_guarded(name, "fresh", _measured, _program(worker, PEERS[name].calls["fresh"], step.text))
        if found is None:
            continue
        printed, cpu, wall = found
        expected = expected or printed
        if printed != expected:
            worker.emit("fault", library=name, doing="fresh", why=f"printed {printed} instead of {expected}")
            continue
        size = Path(worker.job.text_files[step.text]).stat().st_size
        worker.emit("sample", library=name, measure="fresh", text=step.text, output="", cpu=cpu, wall=wall, bytes=size)


def _program(worker: "Worker", load: str, text: str) -> str:
    it = worker.job.vocabulary
    vocabulary = it.name, it.ranks, it.folder, it.pattern, it.special
    return PROGRAM.format(vocabulary=vocabulary, load=load, path=worker.job.text_files[text])


def _measured(program: str) -> tuple[str, float, float]:
    """Run a program; return its output, processor and wall seconds, both minus those of an empty program."""
    printed = _run(program)[0]
    runs, empty = [_run(program)[1:] for _ in range(RUNS)], [_run("pass")[1:] for _ in range(RUNS)]
    cpu, wall = (max(min(some) - min(none), 0.0) for some, none in zip(zip(*runs), zip(*empty)))
    return printed, cpu, wall


def _run(program: str) -> tuple[str, float, float]:
    """Run a program; return its output, processor and wall seconds. Raises RuntimeError with its last error line."""
    cpu, clock = _of_children(), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    wall = time.perf_counter() - clock
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2][:200] or f"exit code {done.returncode}")
    return done.stdout.strip(), _of_children() - cpu, wall


def _of_children() -> float:
    """Return the processor seconds of all finished child processes; 0 if the system doesn't report them."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
