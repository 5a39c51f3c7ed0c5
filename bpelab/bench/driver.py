"""The driver of a run: it starts the worker processes and gives them their jobs.

First, one process compares the ids of all libraries. Then, in other processes, the libraries with correct ids take
turns and are timed. Measures that may crash a process run each library in a separate one.
"""

import json
import pickle
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from .generated_text import Source, generated_text
from .isolated_measures import HELLO
from .machine import load_average
from .peers import PEERS, Vocabulary
from .plan import Job, Plan, Step
from .record import Record
from .runner import Runner
from .texts import Text, split_parts
from .vocabularies import PUBLISHED, TRAINED, Unavailable, prepare

GIB = 1 << 30


class Driver:
    """Runs a plan and fills a record; calls `on_step` with the current activity, `on_row` with each finished row."""

    def __init__(
        self,
        plan: Plan,
        texts: list[Text],
        names: list[str],
        record: Record,
        folder: Path,
        on_step: Callable[[str], None],
        on_row: Callable[[str, Step], None],
    ) -> None:
        self.plan, self.record, self.folder = plan, record, folder
        self.texts = texts[: plan.texts or None]
        self.names = list(names)
        self._on_step, self._runner = on_step, Runner(record, on_step, on_row)

    def run(self) -> None:
        """Run every section of the plan."""
        vocabularies = self._vocabularies()
        text_files = {text.name: self._write_parts(text, self.plan.part) for text in self.texts}
        batches = {text.name: self._write_parts(text, self.plan.batch, "batch") for text in self.texts[:1]}
        for index, vocabulary in enumerate(vocabularies):
            all_measures = index == 0 or self.plan.everything
            own = vocabulary.name not in {**PUBLISHED, **TRAINED}
            few = ("encode", "calls") if own else ("encode",)
            sections = [name for name in self.plan.sections if all_measures or name in few]
            self.record["baselines"][vocabulary.name] = baseline = vocabulary.baseline
            self.names.sort(key=lambda name: name != baseline)  # the first one's ids are the reference
            job = Job(vocabulary, list(self.names), [], text_files, str(self.folder))
            job.values = {"cold rounds": self.plan.cold_rounds, "pathological bytes": self.plan.pathological_bytes}
            self._run_paired(job, batches, sections)
            if "load" in sections:
                self._run_load(job)
            if "fresh" in sections and vocabulary.published:
                self._run_fresh(job)
            if "memory" in sections:
                self._run_memory(job)
            if "pathological" in sections:
                self._run_pathological(job)
        if "train" in self.plan.sections and vocabularies:
            for size, tokens in self.plan.train:
                self._run_train(vocabularies[0], "train", size, tokens)
        if "superwords" in self.plan.sections and vocabularies:
            for size, tokens in self.plan.superwords:
                self._run_train(vocabularies[0], "superwords", size, tokens)
        self.record["machine"]["load_average_at_the_end"] = load_average()

    def _vocabularies(self) -> list[Vocabulary]:
        found = []
        for name in self.plan.encodings:
            self._on_step(f"write the files of {name}")
            try:
                found.append(prepare(name, self.folder / "vocabularies"))
            except Unavailable as error:
                self.record["notes"].append(str(error))
        if not any(vocabulary.published for vocabulary in found) and PUBLISHED.keys() & set(self.plan.encodings):
            self.record["notes"].append("so a tokenizer was trained on the book's text, which fewer libraries can load")
            found.insert(0, prepare("trained", self.folder / "vocabularies"))
        return found

    def _write_parts(self, text: Text, size: int, kind: str = "") -> str:
        warm, pieces = split_parts(text.content, self.plan.rounds, size)
        return self._write_json(f"{kind}{text.name}.json", {"warm": warm, "parts": pieces})

    def _write_json(self, name: str, content: Any) -> str:
        path = self.folder / name
        path.write_text(json.dumps(content), "utf-8")
        return str(path)

    def _run_paired(self, job: Job, batches: dict[str, str], sections: list[str]) -> None:
        """Check the ids of paired measures, then time them."""
        steps = list(self._steps(sections))
        asked = {(step.text, step.capability): step.measure == "batch" for step in steps}
        faults = []
        for own, of_batches in ((job.text_files, False), (batches, True)):
            checks = [Step("check", *what) for what, is_batch in asked.items() if is_batch == of_batches]
            faults += self._runner.run(replace(job, steps=checks, text_files=own), self.plan.seconds)
        wrong = {(name, step.text, step.output) for name, step in faults}
        for threads in sorted({step.threads for step in steps}):
            for own, of_batches in ((job.text_files, False), (batches, True)):
                some = [s for s in steps if s.threads == threads and (s.measure == "batch") == of_batches]
                out = [(n, s) for n in self.names for s in some if (n, s.text, s.capability) in wrong]
                self._runner.run(replace(job, steps=some, text_files=own, excluded=out), self.plan.seconds, threads)

    def _steps(self, sections: list[str]) -> Iterable[Step]:
        names = [text.name for text in self.texts]
        first = names if self.plan.everything else names[:1]
        if "encode" in sections:
            for name in names:
                yield from (Step("warm", name, output) for output in ("list", "array"))
            for name in first:
                yield from (Step("cold", name, output) for output in ("list", "array"))
        for name in first:
            if "calls" in sections:
                yield from (Step(measure, name, "list") for measure in ("calls", "lines", "documents"))
            if "decode" in sections:
                yield from (Step("decode", name, output) for output in ("decode list", "decode array"))
        for name in names[:1] if "batch" in sections else []:
            yield from (Step("batch", name, out, n) for n in (1, 2) for out in ("batch list", "batch array"))

    def _run_load(self, job: Job) -> None:
        here_before = any(sample["encoding"] == job.vocabulary.name for sample in self.record["samples"])
        for number in range(here_before, self.plan.load_rounds + 1):  # the first load on a machine doesn't count
            for name in self.names:
                self._on_step(f"{job.vocabulary.name}: load, round {number}, {name}")
                one = replace(job, peers=[name], steps=[Step("load", "")])
                self._runner.run(one, self.plan.seconds, round_index=number - 1, keep=number > 0)

    def _run_fresh(self, job: Job) -> None:
        names = [name for name in self.names if PEERS[name].part == 1]
        content = {HELLO: HELLO}
        for size in self.plan.fresh:
            content[f"{size / 1e6:g} MB"] = self._repeated_text(size)
        for title, text in content.items():
            path = self.folder / f"fresh {title}.txt"
            path.write_text(text, "utf-8", newline="")
            self._on_step(f"{job.vocabulary.name}: fresh processes, {title}")
            one = replace(job, peers=names, steps=[Step("fresh", title)], text_files={title: str(path)})
            self._runner.run(one, self.plan.seconds)

    def _run_memory(self, job: Job) -> None:
        text = self.texts[0]
        size = round(self.plan.memory * len(text.content) / text.bytes)
        content = (text.content * -(-self.plan.memory // text.bytes))[:size]
        path = self._write_json("memory.json", {"warm": [], "parts": [content]})
        for name in (name for name in self.names if PEERS[name].part == 1):
            self._on_step(f"{job.vocabulary.name}: memory of {name}")
            step = Step("memory", text.name, "list")
            one = replace(job, peers=[name], steps=[step], text_files={text.name: path}, memory_limit=8 * GIB)
            self._runner.run(one, self.plan.seconds)

    def _run_pathological(self, job: Job) -> None:
        steps = [Step("pathological", name, "list") for name in self.plan.pathological]
        for name in (name for name in self.names if PEERS[name].part == 1):
            self._on_step(f"{job.vocabulary.name}: pathological inputs, {name}")
            one = replace(job, peers=[name], steps=steps, memory_limit=4 * GIB)
            self._runner.run(one, self.plan.pathological_seconds)

    def _run_train(self, vocabulary: Vocabulary, measure: str, size: int, tokens: int) -> None:
        path, title, threads = self.folder / f"{measure}-{size}.txt", f"{size / 1e6:g} MB to {tokens:,} tokens", 1
        parts: Iterable[str]
        if measure == "train":
            parts = [self._repeated_text(size)]
        else:  # a repeated text is one long phrase
            parts = generated_text(size, Source("\n".join(text.content for text in self.texts)))
            title, threads = f"{title}, superwords", 2
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts)
        values = {"vocabulary": tokens}
        step = Step(measure, title, threads=threads)
        job = Job(vocabulary, [], [step], {title: str(path)}, str(self.folder), values=values)
        for name in self.names:
            self._on_step(f"{measure} {title}, {name}")
            self._runner.run(replace(job, peers=[name]), max(self.plan.seconds, size / 1e5), threads)
        path.unlink()
        self._compare_training(title)

    def _repeated_text(self, size: int) -> str:
        """Return `size` bytes of the texts, concatenated and repeated as often as needed."""
        content, size_of_texts = "\n".join(text.content for text in self.texts), sum(text.bytes for text in self.texts)
        if size_of_texts < size:
            self.record["notes"].append(
                f"the text for training, {size_of_texts / 1e6:.1f} MB, was repeated to be {size / 1e6:g}"
            )
            content *= -(-size // size_of_texts)
        return content.encode()[:size].decode("utf-8", "ignore")

    def _compare_training(self, title: str) -> None:
        """Compare learned vocabularies by the share of common tokens, since libraries break ties differently."""
        files = {name: self.folder / f"tokens-{title}-{name}" for name in self.names}
        learned = {name: set(pickle.loads(path.read_bytes())) for name, path in files.items() if path.exists()}
        ours = learned.get("bpelab")
        for sample in self.record["samples"]:
            if ours and sample["text"] == title and sample["library"] in learned:
                sample["shared"] = len(ours & learned[sample["library"]]) / len(ours)
