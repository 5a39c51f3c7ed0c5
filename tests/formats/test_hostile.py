"""Files that are broken or made to harm: each opens and works, or is refused in a sentence; nothing else may happen.

Every case runs in a child process with little memory and time (hostile_files.py). A child serves many cases; one that a
case breaks is replaced.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import pytest

from ..conftest import ROOT, SOAK, amount
from . import hostile_files
from .hostile_files import Case

WALL = 20
CASES_A_CHILD = 150


class Child:
    """A process that opens what it is told to open."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.formats.hostile_files"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.answers: Queue[str] = Queue()
        Thread(target=self._listen, daemon=True).start()
        self.served = 0

    def _listen(self) -> None:
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put("")

    def ask(self, question: dict) -> dict:
        self.served += 1
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            line = self.answers.get(timeout=WALL)
        except (Empty, OSError):
            line = ""
        if line:
            return json.loads(line)
        state = self.process.poll()
        self.close()
        what = "is stuck" if state is None else f"ended with {state}: {self.process.stderr.read()[-300:]}"
        return {"kind": "broken", "type": "Child", "message": what, "where": "", "step": "?", "seconds": 0}

    @property
    def tired(self) -> bool:
        return self.process.poll() is not None or self.served >= CASES_A_CHILD

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


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
    if case.must == "load" and (kind != "used" and result["step"] in ("open", "encode probe", "decode probe")):
        return f"should open: {message}"
    if kind == "used" or result["step"] != "open":
        return "should be refused" if case.must == "error" and result["step"] != "open" or kind == "used" and case.must == "error" else None
    if not any(name in message for name in (*case.files, "/", case.opened or "/")):
        return f"names no file: {message}"
    if case.says not in message:
        return f"doesn't say {case.says}: {message}"
    if case.place and not (near(where, case.place) or case.place in message):
        return f"is said to be at {where!r}, not {case.place!r}: {message}"
    return None


def near(where: str, place: str) -> bool:
    """Whether one of two places is the other or holds it."""
    short, long = sorted((where, place), key=len)
    return bool(short) and (long == short or long.startswith((f"{short}.", f"{short}[")))


def check(cases: list[Case], folder: Path) -> None:
    wrong = [f"{case.name}: {what}" for case, result in run(cases, folder) if (what := complaint(case, result))]
    assert not wrong, f"{len(wrong)} of {len(cases)}\n" + "\n".join(wrong[:40])
