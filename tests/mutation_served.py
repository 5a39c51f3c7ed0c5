"""Mutants of what has threads, like Dask's: they are lost in a fork, in which mutmut tests each mutant.

mutmut writes the mutants; which one is called is said by a variable of the environment. So a process tests one after
the other, until one has no end: then it is killed, and another goes on.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

MAKE = """
from pathlib import Path
from mutmut.__main__ import *
set_mutant_under_test("mutant_generation")
Path("mutants").mkdir()
for step in copy_src_dir, copy_also_copy_files, setup_source_paths, store_lines_covered_by_tests:
    step()
create_mutants(1)
"""
SERVE = """
import os, sys
import pytest
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
for name in sys.stdin:
    os.environ["MUTANT_UNDER_TEST"] = name.strip()
    answers.write(f"{int(pytest.main(sys.argv[1:]))}\\n")
"""
STATUS = {"0": "survived", "1": "killed", "3": "killed", "": "timeout"}
"""By pytest's exit status; 3 is an error that pytest itself stumbled over."""


class Served:
    """A process that tests mutants; what pytest says goes to a log in its folder."""

    def __init__(self, folder: Path, words: Sequence[str], environment: dict[str, str]) -> None:
        self._log = folder / "served.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SERVE, *words],
                cwd=folder, env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1,
            )  # fmt: skip

    def status(self, name: str, seconds: float = 600.0) -> str:
        """What becomes of a mutant; after so many seconds the process is killed. No name: of the code as it is."""
        assert self._process.stdin and self._process.stdout
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        self._process.stdin.write(f"{name}\n")
        answer = self._process.stdout.readline().strip()
        timer.cancel()
        if answer not in STATUS:
            raise RuntimeError(f"pytest ended with {answer} for {name}:\n{self._log.read_text()[-3_000:]}")
        return STATUS[answer]

    def check(self) -> None:
        """Raise RuntimeError if a test fails with the code as it is."""
        if self.status("") != "survived":
            raise RuntimeError(f"a test fails without a mutant:\n{self._log.read_text()[-3_000:]}")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def served(
    folder: Path, tests: Sequence[str], environment: dict[str, str], times: float, more: float
) -> dict[str, str]:
    """What becomes of each mutant in a folder that is set up for mutmut.

    A mutant may take so many `times` as long as the code as it is, and some `more` seconds. If it takes longer it is
    tried once more, since the machine may have been busy. Before the first mutant of a process, and behind its last
    one, the tests must pass with the code as it is. Raises RuntimeError.
    """
    subprocess.run([sys.executable, "-c", MAKE], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    metas = [json.loads(path.read_text()) for path in sorted((folder / "mutants").rglob("*.meta"))]
    left = [name for meta in metas for name in meta["exit_code_by_key"]]
    found, slow = dict[str, str](), set[str]()
    while left:
        process = Served(folder / "mutants", ["-x", "-q", *tests], environment)
        try:
            process.check()
            start = time.monotonic()
            process.check()  # as quick as those behind it: what is imported, is
            seconds = times * (time.monotonic() - start) + more
            while left:
                status = process.status(left[0], seconds)
                if status == "timeout" and left[0] not in slow:
                    slow.add(left[0])
                    break
                found[left.pop(0)] = status
                if status == "timeout":
                    break
            else:
                process.check()
        finally:
            process.close()
    return found
