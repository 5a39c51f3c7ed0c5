"""Jobs run to their end, whatever libraries do, and what is measured taken over into the record.

A library that crashes, hangs or is stopped at its limits is left out of the step it was at, which is done again
without it; what that step had measured before is dropped, so that rounds are whole.
"""

from collections.abc import Callable
from dataclasses import replace

from . import processes
from .peers import PEERS
from .processes import Ending, Event
from .record import Record
from .steps import Job, Step


class Runner:
    """Runs jobs. `on_step` is told what is being done, `on_row` what has been measured."""

    def __init__(self, record: Record, on_step: Callable[[str], None], on_row: Callable[[str, Step], None]) -> None:
        self._record, self._on_step, self._on_row = record, on_step, on_row

    def run(
        self, job: Job, seconds: float, threads: int = 1, number: int | None = None, keep: bool = True
    ) -> list[tuple[str, Step]]:
        """All of a job's steps; libraries may take `seconds` for one thing, and have `threads`.

        `number` is that of the round where each round is a job. What was measured is kept if `keep`. Returns what went
        wrong: libraries and steps.
        """
        job = replace(job, steps=[s for s in job.steps if any(PEERS[name].does(s.asks) for name in job.peers)])
        environment = {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": "true" if threads > 1 else "false"}
        faults: list[tuple[str, Step]] = []
        while job.steps:
            attempt = _Attempt(self, job, faults, number, keep)
            ending = processes.run(job, attempt.hear, seconds, environment)
            if ending.why is None:
                break
            faults.append(self._after(job, ending))
            again = len(job.peers) > 1 and ending.library
            job = replace(job, steps=job.steps[ending.step + (not again) :], without=[*job.without, faults[-1]])
        return faults

    def _after(self, job: Job, ending: Ending) -> tuple[str, Step]:
        step = job.steps[ending.step]
        self.leave_out(job, step, ending.library, ending.doing, str(ending.why))
        return ending.library, step

    def keep(self, samples: list[Event], faulty: set[str], number: int | None) -> None:
        """Take over what a finished step has measured, of libraries with which nothing was wrong."""
        digests = {sample["library"]: sample for sample in samples if "digest" in sample}
        for sample in samples:
            if "digest" in sample or sample["library"] in faulty:
                continue
            if sample["library"] in digests:
                sample |= {key: digests[sample["library"]][key] for key in ("digest", "tokens")}
            self._record["samples"].append(sample if number is None else {**sample, "round": number})

    def leave_out(self, job: Job, step: Step, library: str, doing: str, why: str) -> None:
        """Take down what went wrong, once."""
        entry = {"library": library, "encoding": job.vocabulary.name, "doing": doing, "why": why}
        entry["measure"], entry["text"] = ("", "") if _of_all(step, doing) else (step.measure, step.text)
        if entry not in self._record["left_out"]:
            self._record["left_out"].append(entry)

    def begun(self, job: Job, step: Step) -> None:
        """Say what is being done, where that is not one library's turn."""
        if len(job.peers) > 1:
            threads = f", {step.threads} threads" if step.threads > 1 else ""
            self._on_step(f"{job.vocabulary.name}: {step.measure} {step.text}, {step.output}{threads}")

    def finished(self, job: Job, step: Step) -> None:
        """Say what has been measured."""
        self._on_row(job.vocabulary.name, step)


class _Attempt:
    """One process's events."""

    def __init__(
        self, runner: Runner, job: Job, faults: list[tuple[str, Step]], number: int | None, keep: bool
    ) -> None:
        self._runner, self._job, self._faults = runner, job, faults
        self._number, self._keep = number, keep
        self._samples: list[Event] = []
        self._step = job.steps[0]

    def hear(self, event: Event) -> None:
        kind = event.pop("event")
        if kind == "step":
            self._step = self._job.steps[event["number"]]
            self._samples = []
            self._runner.begun(self._job, self._step)
        elif kind in ("sample", "digest"):
            self._samples.append({"encoding": self._job.vocabulary.name, **event})
        elif kind == "fault":
            self._faults.append((event["library"], self._step))
            self._runner.leave_out(self._job, self._step, event["library"], event["doing"], event["why"])
        elif kind == "finished" and self._keep:
            faulty = {name for name, step in self._faults if step == self._step}
            self._runner.keep(self._samples, faulty, self._number)
            self._runner.finished(self._job, self._step)


def _of_all(step: Step, doing: str) -> bool:
    """Whether what went wrong concerns all measures: the vocabulary could not be loaded where that is not measured."""
    return doing == "load" and step.measure != "load"
