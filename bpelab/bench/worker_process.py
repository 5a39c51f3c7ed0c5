"""Worker processes seen from outside: their events, and what becomes of those that crash, hang or want too much.

A library that ends its process or says nothing for too long is named in an Ending, its process is killed, and the
caller goes on without it.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import bpelab

from .steps import Job

Event = dict[str, Any]
START = 60
"""Seconds that Python may take to start, on a machine that is busy with something else."""
WORKER = f"{__package__}.worker"


@dataclass(frozen=True)
class Ending:
    """How a process ended.

    Attributes:
        why: a sentence; None if it did all it was asked to.
        library: what ran last.
        doing: what that was doing.
        step: the number of the step it was at.
    """

    why: str | None = None
    library: str = ""
    doing: str = ""
    step: int = 0


def run(job: Job, on_event: Callable[[Event], None], seconds: float, environment: Mapping[str, str]) -> Ending:
    """Run a job in a process of its own; a library may take `seconds` for one thing."""
    with tempfile.TemporaryDirectory(prefix="bpelab-bench-") as folder:
        path = Path(folder, "job.json")
        path.write_text(json.dumps(job.to_json()), "utf-8")
        here = str(Path(bpelab.__file__).parents[1])  # so that the process measures this bpelab and no other
        search = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        with Path(folder, "errors").open("w+b") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", WORKER, str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **environment, "PYTHONPATH": search},
            )
            try:
                return _follow(process, on_event, seconds, lambda: _last_line(Path(folder, "errors")))
            finally:
                process.kill()
                process.wait()  # its end of the pipe is closed then, so the thread that reads comes to its end


def _follow(
    process: "subprocess.Popen[bytes]", on_event: Callable[[Event], None], seconds: float, last: Callable[[], str]
) -> Ending:
    lines: Queue[bytes] = Queue()
    Thread(target=_read, args=(process, lines), daemon=True).start()
    library, doing, step, patience = "", "starting", 0, max(seconds, START)
    while True:
        line = _next(lines, process.pid, patience)
        if line is None:
            return Ending(f"took more than {patience:g} s", library, doing, step)
        if not line:
            code = process.wait()
            return Ending(_reason(code, last()) if code else None, library, doing, step)
        event, patience = json.loads(line), seconds
        if event["event"] == "at":
            library, doing = event["library"], event["doing"]
        elif event["event"] == "step":
            step = event["number"]
        on_event(event)


def _next(lines: "Queue[bytes]", process: int, seconds: float) -> bytes | None:
    """The next line; None from a process that took too long for it.

    On a busy machine a process may get a small part of a processor. So one that works has `seconds` of processor time,
    where the system tells; one that sleeps, or of which nothing is known, `seconds` by the clock.
    """
    begin = before = _processor_time(process)
    while True:
        try:
            return lines.get(timeout=seconds)
        except Empty:
            now = _processor_time(process)
        if begin is None or before is None or now is None or now - begin >= seconds or now - before < seconds / 50:
            return None
        before = now


def _processor_time(process: int) -> float | None:
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _read(process: "subprocess.Popen[bytes]", lines: "Queue[bytes]") -> None:
    """A thread's work: a pipe can't be read with a time limit everywhere."""
    assert process.stdout is not None
    with process.stdout as pipe:
        for line in pipe:
            lines.put(line)
    lines.put(b"")


def _reason(code: int, last: str) -> str:
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"crashed with {name}" + (f": {last}" if last else "")
    return f"ended with exit code {code}" + (f": {last}" if last else "")


def _last_line(path: Path) -> str:
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")
