"""Run jobs to the end, whatever libraries do, and copy the samples into the record.

A library that crashes, hangs or reaches its limits is left out of the current step. That step then runs again without
it, and the samples of the first attempt are dropped, so that rounds are complete.
"""

from collections.abc import Callable
from dataclasses import replace

from . import worker_process
from .peers import PEERS
from .plan import Job, Step
from .record import Record
from .worker_process import Event, ProcessExit


class Runner:
    """Runs jobs; calls `on_step` with the current activity, `on_row` with each finished row."""

    def __init__(self, record: Record, on_step: Callable[[str], None], on_row: Callable[[str, Step], None]) -> None:
        self._record, self._on_step, self._on_row = record, on_step, on_row

    def run(
        self, job: Job, seconds: float, threads: int = 1, round_index: int | None = None, keep: bool = True
    ) -> list[tuple[str, Step]]:
        """Run all steps of a job; return the (library, step) pairs that failed.

        A library may take `seconds` for one call, and use `threads`. Pass `round_index` if each round is a separate
        job. Samples go into the record if `keep`.
        """
        steps = [s for s in job.steps if any(PEERS[name].supports(s.capability) for name in job.peers)]
        job = replace(job, steps=steps, threads=threads)
        faults: list[tuple[str, Step]] = []
        while job.steps:
            process_run = _ProcessRun(self, job, faults, round_index, keep)
            process_exit = worker_process.run(job, process_run.on_event, seconds)
            if process_exit.why is None:
                break
            faults.append(self._record_exit(job, process_exit))
            again = len(job.peers) > 1 and process_exit.library
            job = replace(job, steps=job.steps[process_exit.step + (not again) :], excluded=[*job.excluded, faults[-1]])
        return faults

    def _record_exit(self, job: Job, process_exit: ProcessExit) -> tuple[str, Step]:
        step = job.steps[process_exit.step]
        self.leave_out(job, step, process_exit.library, process_exit.doing, str(process_exit.why))
        return process_exit.library, step

    def keep(self, samples: list[Event], faulty: set[str], round_index: int | None) -> None:
        """Copy a finished step's samples into the record, except those of `faulty` libraries."""
        digests = {sample["library"]: sample for sample in samples if "digest" in sample}
        for sample in samples:
            if "digest" in sample or sample["library"] in faulty:
                continue
            if sample["library"] in digests:
                sample |= {key: digests[sample["library"]][key] for key in ("digest", "tokens")}
            self._record["samples"].append(sample if round_index is None else {**sample, "round": round_index})

    def leave_out(self, job: Job, step: Step, library: str, doing: str, why: str) -> None:
        """Record a failure, once."""
        entry = {"library": library, "encoding": job.vocabulary.name, "doing": doing, "why": why}
        entry["measure"], entry["text"] = ("", "") if _concerns_all_measures(step, doing) else (step.measure, step.text)
        if entry not in self._record["left_out"]:
            self._record["left_out"].append(entry)

    def step_started(self, job: Job, step: Step) -> None:
        """Report the step, unless it is for one library only (the driver has already reported that)."""
        if len(job.peers) > 1:
            threads = f", {step.threads} threads" if step.threads > 1 else ""
            self._on_step(f"{job.vocabulary.name}: {step.measure} {step.text}, {step.output}{threads}")

    def step_finished(self, job: Job, step: Step) -> None:
        """Report the rows of a finished step."""
        self._on_row(job.vocabulary.name, step)


class _ProcessRun:
    """Receives the events of one worker process."""

    def __init__(
        self, runner: Runner, job: Job, faults: list[tuple[str, Step]], round_index: int | None, keep: bool
    ) -> None:
        self._runner, self._job, self._faults = runner, job, faults
        self._round_index, self._keep = round_index, keep
        self._samples: list[Event] = []
        self._step = job.steps[0]

    def on_event(self, event: Event) -> None:
        kind = event.pop("event")
        if kind == "step":
            self._step = self._job.steps[event["index"]]
            self._samples = []
            self._runner.step_started(self._job, self._step)
        elif kind in ("sample", "digest"):
            self._samples.append({"encoding": self._job.vocabulary.name, **event})
        elif kind == "fault":
            self._faults.append((event["library"], self._step))
            self._runner.leave_out(self._job, self._step, event["library"], event["doing"], event["why"])
        elif kind == "finished" and self._keep:
            faulty = {name for name, step in self._faults if step == self._step}
            self._runner.keep(self._samples, faulty, self._round_index)
            self._runner.step_finished(self._job, self._step)


def _concerns_all_measures(step: Step, doing: str) -> bool:
    """Return whether a failure affects all measures: loading failed in a step that measures something else."""
    return doing == "load" and step.measure != "load"
