"""The worker process in which libraries run: `python -m bpelab.bench.worker JOB`.

It writes events to its standard output, one line of JSON each: the next action, measurements, errors. So if it crashes
or hangs, the process that started it knows which library was running. What libraries print goes to standard error.
"""

import json
import os
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._support.gc_paused import gc_paused
from .checking import check
from .isolated_measures import fresh, load, memory, pathological, train
from .library import Peer, Unsupported
from .machine import pin, timed
from .paired_measures import cold, decode, many_texts, warm
from .peers import PEERS
from .plan import Job, Step

MEASURES: "dict[str, Callable[[Worker, Step], None]]" = {
    "check": check,
    "cold": cold,
    "warm": warm,
    "calls": many_texts,
    "lines": many_texts,
    "documents": many_texts,
    "batch": many_texts,
    "decode": decode,
    "load": load,
    "fresh": fresh,
    "memory": memory,
    "pathological": pathological,
    "train": train,
    "superwords": train,
}
"""Measure -> the function that runs one step of it."""


class Worker:
    """Runs a job's steps and emits events."""

    def __init__(self, job: Job, write: Callable[[str], object]) -> None:
        self.job, self._write = job, write
        self._excluded = set(job.excluded)
        self._cache: dict[str, Peer | None] = {}

    def emit(self, event: str, **facts: Any) -> None:
        """Write one event, a line of JSON."""
        self._write(json.dumps({"event": event, **facts}) + "\n")

    def run(self) -> None:
        """Run all steps."""
        for index, step in enumerate(self.job.steps):
            self.emit("step", index=index)
            MEASURES[step.measure](self, step)
            self.emit("finished", index=index)

    def participants(self, step: Step) -> list[str]:
        """Return the names of the libraries in a step."""
        out = self._excluded
        return [name for name in self.job.peers if PEERS[name].supports(step.capability) and (name, step) not in out]

    def run_guarded(self, name: str, what: str, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function and return its result; if it raises, emit the error and return None.

        A panic in Rust arrives as a BaseException that isn't an Exception, so those are caught too.
        """
        self.emit("at", library=name, doing=what)
        try:
            return call(*arguments)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            words = " ".join(str(error).split())
            why = str(error) if isinstance(error, Unsupported) else f"{type(error).__name__}: {words[:200]}"
            self.emit("fault", library=name, doing=what, why=why)
        return None

    def time(self, name: str, step: Step, call: Callable[[], Any], **facts: Any) -> Any:
        """Time one call and emit the sample, with `facts`; return the call's result, or None if it raised."""
        facts = {"measure": step.measure, "text": step.text, "output": step.output, **facts}
        with gc_paused():
            result_and_times = self.run_guarded(name, facts["measure"], timed, call)
        if result_and_times is None:
            return None
        result, cpu, wall = result_and_times
        self.emit("sample", library=name, cpu=cpu, wall=wall, **facts)
        return result

    def load(self, name: str) -> Peer | None:
        """Create a fresh object of a library, with its vocabulary loaded."""
        peer: Peer | None = self.run_guarded(name, "load", PEERS[name].open, self.job.vocabulary)
        return peer

    def cached(self, name: str) -> Peer | None:
        """Return a library's object, the same one each time, for measures that caches don't affect."""
        if name not in self._cache:
            self._cache[name] = self.load(name)
        return self._cache[name]

    def read_parts(self, step: Step) -> tuple[list[str], list[str]]:
        """Return the parts of a step's text for warming up, and the parts to measure."""
        content = json.loads(Path(self.job.text_files[step.text_file]).read_text("utf-8"))
        return content["warm"], content["parts"]


def limit_memory(size: int) -> None:
    """Limit this process to `size` bytes of address space, if the system can do that."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def main(path: str) -> None:
    """Run the job that is pickled in a file."""
    job: Job = pickle.loads(Path(path).read_bytes())
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as pipe:
        os.dup2(2, 1)  # a library's output mustn't look like our events
        pin(job.threads)  # before a library starts its threads
        if job.memory_limit is not None:
            limit_memory(job.memory_limit)

        def write(line: str) -> None:
            pipe.write(line)
            pipe.flush()

        Worker(job, write).run()


if __name__ == "__main__":
    main(sys.argv[1])
