"""Run jobs in worker processes, whatever libraries do, and copy the samples into the record.

A library that crashes, hangs or reaches its limits is left out of the current step. That step then runs again without
it, and the samples of the first attempt are dropped, so that rounds are complete.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import bpelab

from .peers import PEERS
from .plan import Job, Step
from .record import Record

Event = dict[str, Any]
START = 60
"""Seconds that Python may take to start on a busy machine."""
WORKER = f"{__package__}.worker"


class Runner:
    """Runs jobs; calls `on_step` with the current activity, `on_row` with each finished row."""

    def __init__(self, record: Record, on_step: Callable[[str], None], on_row: Callable[[str, Step], None]) -> None:
        self._record, self._on_step, self._on_row = record, on_step, on_row

    def run(self, job: Job) -> list[tuple[str, Step]]:
        """Run all steps of a job, and record their samples; return the (library, step) pairs that failed."""
        job = replace(
            job, steps=[s for s in job.steps if any(PEERS[name].supports(s.capability) for name in job.peers)]
        )
        faults: list[tuple[str, Step]] = []
        while job.steps:
            step, samples, exited = job.steps[0], list[Event](), False
            with closing(worker_events(job)) as events:
                for event in events:
                    kind = event.pop("event")
                    if kind == "step":
                        step, samples = job.steps[event["index"]], []
                        self._report(job, step)
                    elif kind in ("sample", "digest"):
                        samples.append({"encoding": job.vocabulary.name, **event})
                    elif kind in ("fault", "exit"):
                        exited = kind == "exit"
                        faults.append((event["library"], step))
                        self._leave_out(job, step, **event)
                    elif kind == "finished" and job.keep:
                        self._keep(samples, {name for name, of in faults if of == step}, job.round_index)
                        self._on_row(job.vocabulary.name, step)
            if not exited:
                break
            again = len(job.peers) > 1 and faults[-1][0] != ""
            rest = job.steps[job.steps.index(step) + (not again) :]
            job = replace(job, steps=rest, excluded=[*job.excluded, faults[-1]])
        return faults

    def _report(self, job: Job, step: Step) -> None:
        threads = f"{step.threads} threads" if step.threads > 1 else ""
        alone = job.peers[0] if len(job.peers) == 1 else ""
        what = ", ".join(filter(None, [f"{step.measure} {step.text}".strip(), step.output, threads, alone]))
        self._on_step(f"{job.vocabulary.name}: {what}")

    def _keep(self, samples: list[Event], faulty: set[str], round_index: int | None) -> None:
        """Copy a finished step's samples into the record, except those of `faulty` libraries."""
        digests = {sample["library"]: sample for sample in samples if "digest" in sample}
        for sample in samples:
            if "digest" in sample or sample["library"] in faulty:
                continue
            if sample["library"] in digests:
                sample |= {key: digests[sample["library"]][key] for key in ("digest", "tokens")}
            self._record["samples"].append(sample if round_index is None else {**sample, "round": round_index})

    def _leave_out(self, job: Job, step: Step, library: str, doing: str, why: str) -> None:
        """Record a failure, once; if a library can't be loaded to measure something else, it is one of all measures."""
        entry = {"library": library, "encoding": job.vocabulary.name, "doing": doing, "why": why}
        of_all = doing == "load" and step.measure != "load"
        entry["measure"], entry["text"] = ("", "") if of_all else (step.measure, step.text)
        if entry not in self._record["left_out"]:
            self._record["left_out"].append(entry)


def worker_events(job: Job) -> Generator[Event, None, None]:
    """Run a job in a separate process, and yield its events.

    If a library ends the process or is silent for too long, the process is killed, and the last event is "exit", with
    the library's name, what it was doing, and why that ended.
    """
    with tempfile.TemporaryDirectory(prefix="bpelab-bench-") as folder:
        path, errors = Path(folder, "job"), Path(folder, "errors")
        path.write_bytes(pickle.dumps(job))
        here = str(Path(bpelab.__file__).parents[1])  # so that the process measures this copy of bpelab
        search = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
        threads = {"RAYON_NUM_THREADS": str(job.threads), "TOKENIZERS_PARALLELISM": str(job.threads > 1).lower()}
        with errors.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", WORKER, str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=file,
                env={**os.environ, **threads, "PYTHONPATH": search},
            )
        lines: Queue[bytes] = Queue()
        Thread(target=read_lines, args=(process, lines), daemon=True).start()
        at, why, limit = {"library": "", "doing": "starting"}, None, max(job.seconds, START)
        try:
            while line := next_line(lines, process.pid, limit):
                event, limit = json.loads(line), job.seconds
                if event["event"] == "at":
                    at = {"library": event["library"], "doing": event["doing"]}
                yield event
            if line is None:
                why = f"took more than {limit:g} s"
            elif code := process.wait():
                why = _reason(code, _last_line(errors))
            if why is not None:
                yield {"event": "exit", **at, "why": why}
        finally:
            process.kill()
            process.wait()  # this closes its end of the pipe, so the reading thread ends too


def next_line(lines: "Queue[bytes]", process: int, seconds: float) -> bytes | None:
    """Return the next line, empty at the end; or None if the process took too long for it.

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


def read_lines(process: "subprocess.Popen[bytes]", lines: "Queue[bytes]") -> None:
    """Read lines into a queue, in a thread: not every system can read a pipe with a time limit."""
    assert process.stdout is not None
    with process.stdout as pipe:
        for line in pipe:
            lines.put(line)
    lines.put(b"")


def _reason(code: int, last: str) -> str:
    ended = f"ended with exit code {code}"
    if code < 0:
        ended = f"crashed with {signal.Signals(-code).name if -code in set(signal.Signals) else f'signal {-code}'}"
    return f"{ended}: {last}" if last else ended


def _last_line(path: Path) -> str:
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")
