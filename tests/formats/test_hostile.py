"""Files that are broken or made to harm: each opens and works, or is refused in a sentence; nothing else may happen.

Every case runs in a child process with little memory and time (hostile_files.py). A child serves many cases; one that a
case breaks or fills is replaced.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pytest

from bpelab import BPEModel, BPETokenizer, ModelError, TokenizerFileError
from bpelab.formats import gguf_load, gpt2, huggingface, minbpe, sentencepiece_load
from bpelab.model import rank_merges

from ..conftest import PUBLISHED_ONLY, ROOT, SOAK, amount
from .hostile_files import MAKERS, Case, random_cases, wrong_types

WALL = 600
"""Seconds after which a child is stuck: its own limit is on processor time."""


class Child:
    """A process that opens what it is told to open."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-W", PUBLISHED_ONLY, "-m", "tests.formats.hostile_files"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.answers: Queue[str] = Queue()
        self.listener = Thread(target=self._listen, daemon=True)
        self.listener.start()
        self.full = False

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put("")

    def ask(self, question: dict) -> dict:
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            line = self.answers.get(timeout=WALL)
        except (Empty, OSError):
            line = ""
        if line:
            answer = json.loads(line)
            self.full = answer["full"]
            return answer
        state = self.process.poll()
        what = "is stuck" if state is None else f"ended with {state}: {self.process.stderr.read()[-300:]}"
        self.close()
        return {"kind": "broken", "type": "Child", "message": what, "where": "", "step": "?", "seconds": 0}

    @property
    def tired(self) -> bool:
        """Whether the next case needs another child: this one has ended, or what it has cached takes too much."""
        return self.process.poll() is not None or self.full

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.listener.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(OSError):  # what was not read by the child any more
                stream.close()


def run(cases: Iterable[Case], folder: Path) -> list[tuple[Case, dict]]:
    """What became of each case. A broken one is tried again in a child of its own, which no other case has filled."""
    child, results = Child(), []
    for number, case in enumerate(cases):
        question = case.build(folder / str(number))
        if child.tired:
            child.close()
            child = Child()
        result = child.ask(question)
        if result["kind"] == "broken":
            child.close()
            child = Child()
            result = child.ask(question)
            child.close()
        results.append((case, result))
    child.close()
    return results


def complaint(case: Case, result: dict) -> str | None:
    """What is wrong with what became of a case; None if nothing is."""
    kind, message, where = result["kind"], result.get("message", ""), result.get("where", "")
    if kind == "broken":
        return f"{result['type']} in {result['step']}: {message}"
    if case.must == "load" and kind != "used" and result["step"] in ("open", "encode probe", "decode probe"):
        return f"should open: {message}"
    if kind == "used" or result["step"] != "open":
        return "should be refused" if case.must == "error" else None
    if not any(name in message for name in (*case.files, "/", case.opened or "/")):
        return f"names no file: {message}"
    if case.says not in message:
        return f"doesn't say {case.says}: {message}"
    entry = case.place.partition("model.vocab")[2].strip("[]") or case.place  # of two tokens either may be named first
    if case.place and not (near(where, case.place) or entry in message):
        return f"is said to be at {where!r}, not {case.place!r}: {message}"
    return None


def near(where: str, place: str) -> bool:
    """Whether one of two places is the other or holds it."""
    short, long = sorted((where, place), key=len)
    return bool(short) and (long == short or long.startswith((f"{short}.", f"{short}[")))


def check(cases: Iterable[Case], folder: Path) -> None:
    results = run(cases, folder)
    wrong = [f"{case.name}: {what}" for case, result in results if (what := complaint(case, result))]
    assert not wrong, f"{len(wrong)} of {len(results)}\n" + "\n".join(wrong[:40])


def some(cases: Iterable[Case], number: int) -> list[Case]:
    """As many as a short run takes, always the same; in a soak all."""
    listed = list(cases)
    return listed if SOAK else random.Random(1).sample(listed, min(number, len(listed)))


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_files(make, tmp_path):
    check(some(make(), 70), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_wrong_types(part, tmp_path):
    """Whatever stands in the place of an entry: the message says which one it is."""
    check(some(list(wrong_types())[part::4], 80), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_changed_at_random(seed, tmp_path):
    check(random_cases(amount(100, 5_000), seed, tmp_path), tmp_path)


def test_what_opens_opens_in_tokenizers_too(tmp_path):
    """Of the files with a wrong entry. What is left out may have a default here, and a count may be any integer."""
    tokenizers = pytest.importorskip("tokenizers")
    for number, case in enumerate(some(wrong_types(), 400)):
        path = Path(case.build(tmp_path / str(number))["path"]) / "tokenizer.json"
        try:
            ours = BPETokenizer.from_pretrained(path)
        except TokenizerFileError:
            continue
        if " without " in case.name or case.name.endswith(f"= {10**30}") or "added_tokens = null" in case.name:
            continue
        theirs = tokenizers.Tokenizer.from_str(path.read_text(encoding="utf-8"))
        theirs.no_truncation()
        theirs.no_padding()
        for text in ("ab abc a!", "Hello 12 [A] ▁<x>é"):
            try:
                expected = theirs.encode(text).ids
            except BaseException as error:  # an end of Rust is no Exception
                assert type(error).__name__ == "PanicException"
                continue
            assert ours.encode(text, allowed_special="all") == expected, case.name


@pytest.mark.parametrize("name", ["~nobody-is-called-that/x", "a\0b", "n" * 5_000, "", "."])
def test_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for opening in (BPETokenizer.from_pretrained, gguf_load.load, sentencepiece_load.load, minbpe.load):
        with pytest.raises(TokenizerFileError):
            opening(Path(name))


OPENING = [gguf_load.load, sentencepiece_load.load, minbpe.load, huggingface.load, gpt2.load]


@pytest.mark.parametrize("opening", OPENING)
def test_a_pipe_is_not_waited_for(opening, tmp_path):
    os.mkfifo(tmp_path / "pipe.model")
    with pytest.raises(TokenizerFileError, match="pipe"):
        opening(tmp_path / "pipe.model")


@pytest.mark.skipif(os.geteuid() == 0, reason="the root user may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    path.chmod(0)
    with pytest.raises(TokenizerFileError, match="can't be read: Permission denied"):
        BPETokenizer.from_pretrained(path)


def test_tokens_with_too_many_parts(monkeypatch):
    runs = BPEModel.from_ranks({bytes([byte]): byte for byte in range(256)} | {b"a" * n: 300 + n for n in range(2, 90)})
    assert len(runs.merges) == sum(range(1, 89))
    monkeypatch.setattr(rank_merges, "MAX_WORK", 10_000)
    with pytest.raises(ModelError, match="so long and so alike"):
        len(runs.merges)
    assert BPETokenizer(runs).encode("a" * 100) == [364, 336]


def test_every_name_is_there_once():
    names = [case.name for make in MAKERS for case in make()]
    assert len(names) == len(set(names)) > 1_000
