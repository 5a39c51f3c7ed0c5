"""The process in which libraries run: `python -m bpelab.bench.worker JOB.json`.

It says on its standard output, one line of JSON each, what it is about to do, what it measured and what went wrong, so
that the process that started it knows which library it was, should this one crash or hang. What libraries print goes
to standard error.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .measures import MEASURES
from .peers import PEERS
from .peers.base import Peer, Unsupported
from .steps import Job, Step


class Worker:
    """Runs a job's steps and tells what happens."""

    def __init__(self, job: Job, write: Callable[[str], object]) -> None:
        self.job, self._write = job, write
        self._without = set(job.without)
        self._kept: dict[str, Peer | None] = {}

    def tell(self, event: str, **facts: Any) -> None:
        """Write one line."""
        self._write(json.dumps({"event": event, **facts}) + "\n")

    def run(self) -> None:
        """All steps."""
        for number, step in enumerate(self.job.steps):
            self.tell("step", number=number)
            MEASURES[step.measure](self, step)
            self.tell("finished", number=number)

    def able(self, step: Step) -> list[str]:
        """The libraries that take part in a step."""
        out = self._without
        return [name for name in self.job.peers if PEERS[name].does(step.asks) and (name, step) not in out]

    def attempt(self, name: str, what: str, call: Callable[..., Any], *arguments: Any) -> Any:
        """What `call` returns; None after saying what the library raised.

        A panic in Rust arrives as a BaseException that is no Exception, so those are caught too.
        """
        self.tell("at", library=name, doing=what)
        try:
            return call(*arguments)
        except (KeyboardInterrupt, SystemExit):
            raise
        except Unsupported as error:
            self.tell("fault", library=name, doing=what, why=str(error), unsupported=True)
        except BaseException as error:
            words = " ".join(str(error).split())
            self.tell("fault", library=name, doing=what, why=f"{type(error).__name__}: {words[:200]}")
        return None

    def load(self, name: str) -> Peer | None:
        """A fresh object of a library, its vocabulary loaded."""
        peer: Peer | None = self.attempt(name, "load", PEERS[name], self.job.vocabulary)
        return peer

    def kept(self, name: str) -> Peer | None:
        """The same object each time, where what it remembers changes nothing."""
        if name not in self._kept:
            self._kept[name] = self.load(name)
        return self._kept[name]

    def material(self, text: str) -> tuple[list[str], list[str]]:
        """The parts that warm up, and those to measure on."""
        content = json.loads(Path(self.job.material[text]).read_text("utf-8"))
        return content["warm"], content["parts"]


def limit_memory(size: int) -> None:
    """Let this process have no more than `size` bytes of address space, where the system can do that."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def main(path: str) -> None:
    """Run the job in a file."""
    job = Job.from_json(json.loads(Path(path).read_text("utf-8")))
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as pipe:
        os.dup2(2, 1)  # what a library prints must not look like a line of ours
        if job.memory_limit is not None:
            limit_memory(job.memory_limit)

        def write(line: str) -> None:
            pipe.write(line)
            pipe.flush()

        Worker(job, write).run()


if __name__ == "__main__":
    main(sys.argv[1])
