"""Fresh processes: the total cost of importing a library, loading a vocabulary and encoding a file.

Each library runs in a program of a few lines, in its own Python process that imports nothing else; the time of an empty
program is subtracted. Files are in the system's cache, and so are the tables that a library keeps from run to run: the
first run of each library is not counted.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .job import Step
from .peers import PEERS

if TYPE_CHECKING:
    from .worker import Worker

HELLO = "hello world"
RUNS = 5
"""Runs of each program. The shortest counts, since a disturbance can only make a run longer."""
PROGRAM = """
NAME, RANKS, FOLDER, PATTERN, SPECIAL = {vocabulary!r}
{load}
with open({path!r}, encoding="utf-8", newline="") as file:
    ids = encode(file.read())
print(len(ids), ids[0], ids[len(ids) // 2], ids[-1])
"""


def fresh(worker: "Worker", step: Step) -> None:
    """Measure the processor time of a process that encodes a file, less that of an empty one."""
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
    """Return what a program prints, its processor seconds and its wall seconds, both less those of an empty one."""
    printed = _run(program)[0]
    runs, empty = [_run(program)[1:] for _ in range(RUNS)], [_run("pass")[1:] for _ in range(RUNS)]
    cpu, wall = (max(min(some) - min(none), 0.0) for some, none in zip(zip(*runs), zip(*empty)))
    return printed, cpu, wall


def _run(program: str) -> tuple[str, float, float]:
    """Run a program; return its output, processor and wall seconds. Raises RuntimeError with its last line."""
    cpu, clock = _of_children(), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    wall = time.perf_counter() - clock
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2][:200] or f"exit code {done.returncode}")
    return done.stdout.strip(), _of_children() - cpu, wall


def _of_children() -> float:
    """Return the processor seconds of all child processes that have ended; 0 where the system doesn't say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
