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
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .checking import flatten
from .library import Library
from .machine import MemoryMeter
from .paired_measures import WARM_UP_TEXT
from .peers import PEERS
from .plan import Step
from .texts import PATHOLOGICAL
from .vocabularies import Vocabulary

if TYPE_CHECKING:
    from .worker import Worker

HELLO = "hello world"
RUNS = 5
"""Runs of each program. The shortest counts, since interference can only make a run longer."""
ENCODE = """
with open({path!r}, encoding="utf-8", newline="") as file:
    ids = encode(file.read())
print(len(ids), ids[0], ids[len(ids) // 2], ids[-1])
"""
"""What follows `Library.program` in a fresh process."""


def load(worker: "Worker", step: Step) -> None:
    """Time loading the vocabulary and encoding a few words, after the imports."""
    for name in worker.participants(step):
        worker.run_guarded(name, "import", PEERS[name].import_all)
        worker.time(name, step, partial(load_and_encode, PEERS[name], worker.job.vocabulary))


def load_and_encode(library: Library, vocabulary: Vocabulary) -> list[int]:
    """Load a vocabulary and encode a few words with it."""
    ids: list[int] = library.open(vocabulary)["list"](WARM_UP_TEXT)
    return ids


def memory(worker: "Worker", step: Step) -> None:
    """Measure resident memory: a loaded vocabulary's, and the peak above that while encoding a text."""
    for name in worker.participants(step):
        (text,) = worker.read_parts(step)[1]
        worker.run_guarded(name, "import", PEERS[name].import_all)
        meter = MemoryMeter()
        before = meter.current()
        peer = worker.load(name)
        if peer is None or worker.run_guarded(name, "encode", peer["list"], WARM_UP_TEXT) is None:
            continue
        model = meter.current()
        meter.restart()
        ids = worker.run_guarded(name, "encode", peer[peer.fastest], text)
        if ids is not None:
            facts = {"measure": "memory", "text": step.text, "output": peer.fastest, "bytes": len(text.encode())}
            worker.emit("sample", library=name, **facts, model=model - before, added=max(meter.peak() - model, 0))


def pathological(worker: "Worker", step: Step) -> None:
    """Time a pathological input; report the digest and the number of its ids."""
    for name in worker.participants(step):
        text = PATHOLOGICAL[step.text](worker.job.values["pathological bytes"])
        peer = worker.load(name)
        if peer is None:
            continue
        encode = peer[peer.fastest]
        worker.run_guarded(name, "warm up", encode, WARM_UP_TEXT)
        ids = worker.time(name, step, partial(encode, text), bytes=len(text))
        if ids is not None:
            array = flatten([ids])
            digest = hashlib.sha256(array.tobytes()).hexdigest()
            worker.emit("digest", library=name, text=step.text, digest=digest, tokens=len(array))


def train(worker: "Worker", step: Step) -> None:
    """Time training on a file, with or without superwords; write the learned tokens to another file for comparison."""
    path, size = Path(worker.job.text_files[step.text]), worker.job.values["vocabulary"]
    for name in worker.participants(step):
        library = PEERS[name]
        worker.run_guarded(name, "import", library.import_all)
        learn = library.trainers[step.measure]
        tokens = worker.time(name, step, partial(learn, str(path), size), bytes=path.stat().st_size, size=size)
        if tokens is not None:
            Path(worker.job.folder, f"tokens-{step.text}-{name}").write_bytes(pickle.dumps(sorted(tokens)))


def fresh(worker: "Worker", step: Step) -> None:
    """Measure the processor time of a process that encodes a file, minus that of an empty one."""
    path = Path(worker.job.text_files[step.text])
    expected = None
    for name in worker.participants(step):
        output_and_times = worker.run_guarded(name, "fresh", encode_afresh, PEERS[name], worker.job.vocabulary, path)
        if output_and_times is None:
            continue
        printed, cpu, wall = output_and_times
        expected = expected or printed
        if printed != expected:
            worker.emit("fault", library=name, doing="fresh", why=f"printed {printed} instead of {expected}")
        else:
            facts = {"measure": "fresh", "text": step.text, "output": "", "bytes": path.stat().st_size}
            worker.emit("sample", library=name, **facts, cpu=cpu, wall=wall)


def encode_afresh(library: Library, vocabulary: Vocabulary, path: Path) -> tuple[str, float, float]:
    """Encode a file in fresh processes; return what one prints, and processor and wall seconds beyond an empty one."""
    return time_program(library.program(vocabulary) + ENCODE.format(path=str(path)))


def time_program(program: str) -> tuple[str, float, float]:
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
