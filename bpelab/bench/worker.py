"""The worker process in which libraries run: `python -m bpelab.bench.worker JOB.json`.

It writes events to its standard output, one line of JSON each: the next action, measurements, errors. So if it crashes
or hangs, the process that started it knows which library was running. What libraries print goes to standard error.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .checking import check
from .isolated_measures import fresh, load, memory, pathological, train
from .machine import pin
from .paired_measures import batch, cold, decode, one_by_one, warm
from .peers import PEERS
from .peers.base import Peer, Unsupported
from .plan import Job, Step

MEASURES: "dict[str, Callable[[Worker, Step], None]]" = {
    "check": check,
    "cold": cold,
    "warm": warm,
    "calls": one_by_one,
    "lines": one_by_one,
    "documents": one_by_one,
    "batch": batch,
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
        except Unsupported as error:
            self.emit("fault", library=name, doing=what, why=str(error), unsupported=True)
        except BaseException as error:
            words = " ".join(str(error).split())
            self.emit("fault", library=name, doing=what, why=f"{type(error).__name__}: {words[:200]}")
        return None

    def load(self, name: str) -> Peer | None:
        """Create a fresh object of a library, with its vocabulary loaded."""
        peer: Peer | None = self.run_guarded(name, "load", PEERS[name], self.job.vocabulary)
        return peer

    def cached(self, name: str) -> Peer | None:
        """Return a library's object, the same one each time, for measures that caches don't affect."""
        if name not in self._cache:
            self._cache[name] = self.load(name)
        return self._cache[name]

    def read_parts(self, text: str) -> tuple[list[str], list[str]]:
        """Return the parts of a text for warming up, and the parts to measure."""
        content = json.loads(Path(self.job.text_files[text]).read_text("utf-8"))
        return content["warm"], content["parts"]


def limit_memory(size: int) -> None:
    """Limit this process to `size` bytes of address space, if the system can do that."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def main(path: str) -> None:
    """Run the job described in a file."""
    job = Job.from_json(json.loads(Path(path).read_text("utf-8")))
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
