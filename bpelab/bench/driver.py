"""The driver of a run: it gives worker processes their jobs.

First, one process compares the ids of all libraries. Then, in other processes, the libraries with correct ids take
turns and are timed. Measures that may crash a process run each library in a separate one.
"""

import json
import pickle
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from .generated_text import Source, generated_text
from .isolated_measures import HELLO
from .machine import load_average
from .peers import PEERS
from .plan import Job, Plan, Step
from .record import Record
from .runner import Runner
from .texts import Text, split_parts
from .vocabularies import PUBLISHED, TRAINED, Unavailable, Vocabulary, prepare

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
        self._isolated = {
            "load": self._run_load,
            "fresh": self._run_fresh,
            "memory": self._run_memory,
            "pathological": self._run_pathological,
        }

    def run(self) -> None:
        """Run every section of the plan."""
        vocabularies = self._vocabularies()
        self.texts = [self._without_special_tokens(text, vocabularies) for text in self.texts]
        text_files = {text.name: self.write_parts(text, self.plan.part) for text in self.texts}
        if self.texts:
            batches = Step("batch", self.texts[0].name, "batch list")
            text_files[batches.text_file] = self.write_parts(self.texts[0], self.plan.batch)
        values = {"cold rounds": self.plan.cold_rounds, "pathological bytes": self.plan.pathological_bytes}
        for index, vocabulary in enumerate(vocabularies):
            sections = [name for name in self.plan.sections if self._belongs(name, index, vocabulary)]
            self.record["baselines"][vocabulary.name] = baseline = vocabulary.baseline
            names = sorted(self.names, key=lambda name: name != baseline)  # the first one's ids are the reference
            job = Job(vocabulary, names, [], text_files, str(self.folder), self.plan.seconds, values=values)
            self._run_paired(job, list(self._steps(sections)))
            for section, run in self._isolated.items():
                if section in sections:
                    run(job)
        for measure, sizes in (("train", self.plan.train), ("superwords", self.plan.superwords)):
            if measure in self.plan.sections and vocabularies:
                for size, tokens in sizes:
                    self._run_train(vocabularies[0], measure, size, tokens)
        self.record["machine"]["load_average_at_the_end"] = load_average()

    def _belongs(self, section: str, index: int, vocabulary: Vocabulary) -> bool:
        """Return whether a vocabulary gets a section: the first one gets all, and the user's own ones short calls."""
        own = vocabulary.name not in {**PUBLISHED, **TRAINED}
        return index == 0 or self.plan.everything or section == "encode" or (own and section == "calls")

    def _vocabularies(self) -> list[Vocabulary]:
        vocabularies = []
        for name in self.plan.encodings:
            self._on_step(f"write the files of {name}")
            try:
                vocabularies.append(prepare(name, self.folder / "vocabularies"))
            except Unavailable as error:
                self.record["notes"].append(str(error))
        if PUBLISHED.keys() & set(self.plan.encodings) and not any(each.published for each in vocabularies):
            self.record["notes"].append("so a tokenizer was trained on the book's text, which fewer libraries can load")
            vocabularies.insert(0, prepare("trained", self.folder / "vocabularies"))
        return vocabularies

    def _without_special_tokens(self, text: Text, vocabularies: list[Vocabulary]) -> Text:
        """Return the text without the strings of special tokens, which some libraries always encode as these tokens."""
        names = {name for vocabulary in vocabularies for name in vocabulary.special if name in text.content}
        content = text.content
        for name in sorted(names, key=len, reverse=True):
            content = content.replace(name, "")
        if names:
            self.record["notes"].append(f"text {text.name}: without {', '.join(sorted(names))}, special tokens")
        return replace(text, content=content)

    def write_parts(self, text: Text, size: int) -> str:
        """Write a text's parts of `size` bytes, as a worker reads them; return the file's path."""
        warm, parts = split_parts(text.content, self.plan.rounds, size)
        return self._write(f"{text.name}-{size}.json", json.dumps({"warm": warm, "parts": parts}))

    def _write(self, name: str, content: str) -> str:
        path = self.folder / name
        path.write_text(content, "utf-8", newline="")
        return str(path)

    def _run_paired(self, job: Job, steps: list[Step]) -> None:
        """Check the ids of paired measures, then time them; batches in processes of their own."""
        checks = dict.fromkeys(Step("check", step.text, step.capability) for step in steps)
        faults = self._runner.run(replace(job, steps=list(checks)))
        wrong = {(name, step.text, step.output) for name, step in faults}
        for threads, batch in sorted({(step.threads, step.batch) for step in steps}):
            some = [step for step in steps if (step.threads, step.batch) == (threads, batch)]
            out = [(name, s) for name in job.peers for s in some if (name, s.text, s.capability) in wrong]
            self._runner.run(replace(job, steps=some, excluded=out, threads=threads))

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

    def _run_each(self, job: Job) -> None:
        """Run each library in a process of its own."""
        for name in job.peers:
            self._runner.run(replace(job, peers=[name]))

    def _run_load(self, job: Job) -> None:
        here_before = any(sample["encoding"] == job.vocabulary.name for sample in self.record["samples"])
        for number in range(here_before, self.plan.load_rounds + 1):  # the first load on a machine doesn't count
            self._run_each(replace(job, steps=[Step("load", "")], round_index=number - 1, keep=number > 0))

    def _run_fresh(self, job: Job) -> None:
        texts = {HELLO: HELLO, **{f"{size / 1e6:g} MB": "".join(self._long_text(size)) for size in self.plan.fresh}}
        for title, text in texts.items() if job.vocabulary.published else ():
            path = self._write(f"fresh {title}.txt", text)
            self._runner.run(replace(job, steps=[Step("fresh", title)], text_files={title: path}))

    def _run_memory(self, job: Job) -> None:
        text = self.texts[0]
        parts = [repeated(text.content, self.plan.memory)]
        files = {text.name: self._write("memory.json", json.dumps({"warm": [], "parts": parts}))}
        steps = [Step("memory", text.name, "list")]
        self._run_each(replace(_fast(job), steps=steps, text_files=files, memory_limit=8 * GIB))

    def _run_pathological(self, job: Job) -> None:
        steps = [Step("pathological", name, "list") for name in self.plan.pathological]
        self._run_each(replace(_fast(job), steps=steps, memory_limit=4 * GIB, seconds=self.plan.pathological_seconds))

    def _run_train(self, vocabulary: Vocabulary, measure: str, size: int, tokens: int) -> None:
        path, title, threads = self.folder / f"{measure}-{size}.txt", f"{size / 1e6:g} MB to {tokens:,} tokens", 1
        if measure == "superwords":
            title, threads = f"{title}, superwords", 2
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(self._long_text(size))
        steps, seconds = [Step(measure, title, threads=threads)], max(self.plan.seconds, size / 1e5)
        files, values = {title: str(path)}, {"vocabulary": tokens}
        self._run_each(Job(vocabulary, self.names, steps, files, str(self.folder), seconds, threads, values=values))
        path.unlink()
        self._compare_training(title)

    def _long_text(self, size: int) -> Iterable[str]:
        """Return `size` bytes of the texts, in parts; if they are shorter, generate text like them.

        Repeated text would have no new words, and for superwords it's one long phrase.
        """
        content = "\n".join(text.content for text in self.texts)
        if sum(text.bytes for text in self.texts) >= size:
            return [content.encode()[:size].decode("utf-8", "ignore")]
        self.record["notes"].append(f"the text of {size / 1e6:g} MB was generated from {len(content) / 1e6:.1f} MB")
        return generated_text(size, Source(content))

    def _compare_training(self, title: str) -> None:
        """Compare learned vocabularies by the share of common tokens, since libraries break ties differently."""
        files = {name: self.folder / f"tokens-{title}-{name}" for name in self.names}
        learned = {name: set(pickle.loads(path.read_bytes())) for name, path in files.items() if path.exists()}
        ours = learned.get("bpelab")
        for sample in self.record["samples"]:
            if ours and sample["text"] == title and sample["library"] in learned:
                sample["shared"] = len(ours & learned[sample["library"]]) / len(ours)


def _fast(job: Job) -> Job:
    """Return the job for the libraries that are fast enough to encode whole texts."""
    return replace(job, peers=[name for name in job.peers if PEERS[name].part == 1])


def repeated(text: str, size: int) -> str:
    """Return the first `size` bytes of a text that is repeated as often as needed, in whole characters.

    >>> repeated("naïve ", 16)
    'naïve naïve na'
    """
    data = text.encode()
    return (data * -(-size // len(data)))[:size].decode("utf-8", "ignore")
