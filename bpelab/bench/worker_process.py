"""Worker processes, seen from the process that starts them: events, timeouts and crashes.

If a library ends its process or is silent for too long, the process is killed and a ProcessExit names the library, so
that the caller can go on without it.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import bpelab

from .plan import Job

Event = dict[str, Any]
START = 60
"""Seconds that Python may take to start on a busy machine."""
WORKER = f"{__package__}.worker"


@dataclass(frozen=True)
class ProcessExit:
    """How a process ended.

    Attributes:
        why: the reason, as a sentence; None if the job was finished.
        library: the library that ran last.
        doing: what it was doing.
        step: the index of its last step.
    """

    why: str | None = None
    library: str = ""
    doing: str = ""
    step: int = 0


def run(job: Job, on_event: Callable[[Event], None], seconds: float) -> ProcessExit:
    """Run a job in a separate process; a library may take `seconds` for one call."""
    with tempfile.TemporaryDirectory(prefix="bpelab-bench-") as folder:
        path = Path(folder, "job.json")
        path.write_text(json.dumps(job.to_json()), "utf-8")
        here = str(Path(bpelab.__file__).parents[1])  # so that the process measures this copy of bpelab
        search = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        threads = {"RAYON_NUM_THREADS": str(job.threads), "TOKENIZERS_PARALLELISM": str(job.threads > 1).lower()}
        with Path(folder, "errors").open("w+b") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", WORKER, str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **threads, "PYTHONPATH": search},
            )
            try:
                return _follow_events(process, on_event, seconds, lambda: _last_line(Path(folder, "errors")))
            finally:
                process.kill()
                process.wait()  # this closes its end of the pipe, so the reading thread ends too


def _follow_events(
    process: "subprocess.Popen[bytes]", on_event: Callable[[Event], None], seconds: float, last: Callable[[], str]
) -> ProcessExit:
    lines: Queue[bytes] = Queue()
    Thread(target=_read, args=(process, lines), daemon=True).start()
    library, doing, step, timeout = "", "starting", 0, max(seconds, START)
    while True:
        line = _next_line(lines, process.pid, timeout)
        if line is None:
            return ProcessExit(f"took more than {timeout:g} s", library, doing, step)
        if not line:
            code = process.wait()
            return ProcessExit(_reason(code, last()) if code else None, library, doing, step)
        event, timeout = json.loads(line), seconds
        if event["event"] == "at":
            library, doing = event["library"], event["doing"]
        elif event["event"] == "step":
            step = event["index"]
        on_event(event)


def _next_line(lines: "Queue[bytes]", process: int, seconds: float) -> bytes | None:
    """Return the next line, or None if the process took too long for it.

    On a busy machine a process may get only a small share of a processor. So a working process has `seconds` of
    processor time, if the system reports it; one that sleeps, or whose processor time is unknown, has `seconds` of
    wall time.
    """
    started = before = _processor_time(process)
    while True:
        try:
            return lines.get(timeout=seconds)
        except Empty:
            now = _processor_time(process)
        if started is None or before is None or now is None or now - started >= seconds or now - before < seconds / 50:
            return None
        before = now


def _processor_time(process: int) -> float | None:
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _read(process: "subprocess.Popen[bytes]", lines: "Queue[bytes]") -> None:
    """Read lines into a queue, in a thread: not every system can read a pipe with a time limit."""
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
