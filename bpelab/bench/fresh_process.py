"""A fresh process: what it costs to start, import, load a vocabulary and encode a file, all in all.

Each library runs in a program of a few lines, in a Python of its own that imports nothing else; what the same Python
takes to do nothing is taken off. Files are in the system's cache, and so are the tables that a library keeps from run
to run: the first run of each is not counted.
"""

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .peers import PEERS
from .steps import Step

if TYPE_CHECKING:
    from .worker import Worker

HELLO = "hello world"
RUNS = 5
"""Of which the shortest is told: what disturbs a process makes it longer."""
PROGRAM = """
NAME, RANKS, FOLDER, PATTERN, SPECIAL = {vocabulary!r}
{load}
with open({path!r}, encoding="utf-8", newline="") as file:
    ids = encode(file.read())
print(len(ids), ids[0], ids[len(ids) // 2], ids[-1])
"""


def fresh(worker: "Worker", step: Step) -> None:
    """Tell the processor time of a process that encodes a file, less that of one that does nothing."""
    expected = None
    for name in worker.able(step):
        found = worker.attempt(name, "fresh", _measured, _program(worker, PEERS[name].calls["fresh"], step.text))
        if found is None:
            continue
        printed, cpu, wall = found
        expected = expected or printed
        if printed != expected:
            worker.tell("fault", library=name, doing="fresh", why=f"printed {printed} instead of {expected}")
            continue
        size = Path(worker.job.material[step.text]).stat().st_size
        worker.tell("sample", library=name, measure="fresh", text=step.text, output="", cpu=cpu, wall=wall, bytes=size)


def _program(worker: "Worker", load: str, text: str) -> str:
    it = worker.job.vocabulary
    vocabulary = it.name, it.ranks, it.folder, it.pattern, it.special
    return PROGRAM.format(vocabulary=vocabulary, load=load, path=worker.job.material[text])


def _measured(program: str) -> tuple[str, float, float]:
    """What a program prints, and its seconds, of the processor and by the clock, beyond those of an empty one."""
    printed = _run(program)[0]
    runs, empty = [_run(program)[1:] for _ in range(RUNS)], [_run("pass")[1:] for _ in range(RUNS)]
    cpu, wall = (max(min(some) - min(none), 0.0) for some, none in zip(zip(*runs), zip(*empty)))
    return printed, cpu, wall


def _run(program: str) -> tuple[str, float, float]:
    """What a program printed, its processor time, and its time by the clock. Raises RuntimeError with its last line."""
    cpu, clock = _of_children(), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)
    wall = time.perf_counter() - clock
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2][:200] or f"exit code {done.returncode}")
    return done.stdout.strip(), _of_children() - cpu, wall


def _of_children() -> float:
    """Processor time of the processes that ended, in seconds; 0 where the system doesn't tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
