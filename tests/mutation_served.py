"""Mutants of what has threads, like Dask's: they are lost in a fork, in which mutmut tests each mutant.

mutmut writes the mutants; which one is called is said by a variable of the environment. So a process tests one after
the other, until one has no end: then it is killed, and another goes on.
"""

import json
import os
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
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for name in sys.stdin:
    os.environ["MUTANT_UNDER_TEST"] = name.strip()
    answers.write(f"{int(pytest.main(sys.argv[1:]))}\\n")
"""


class Served:
    """A process that tests mutants."""

    def __init__(self, folder: Path, words: Sequence[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE, *words],
            cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, bufsize=1,
        )  # fmt: skip

    def status(self, name: str, seconds: float = 600.0) -> str:
        """What becomes of a mutant; after so many seconds the process is killed. No name: of the code as it is."""
        assert self._process.stdin and self._process.stdout
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        self._process.stdin.write(f"{name}\n")
        answer = self._process.stdout.readline().strip()
        timer.cancel()
        return {"0": "survived", "1": "killed", "": "timeout"}.get(answer, f"pytest ended with {answer}")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def served(folder: Path, tests: Sequence[str], environment: dict[str, str], times: float, more: float) -> dict[str, str]:
    """What becomes of each mutant in a folder that is set up for mutmut.

    A mutant may take so many `times` as long as the code as it is, and some `more` seconds. Before the first mutant of
    a process, and behind its last one, the tests must pass with the code as it is. Raises RuntimeError.
    """
    subprocess.run([sys.executable, "-c", MAKE], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    metas = [json.loads(path.read_text()) for path in sorted((folder / "mutants").rglob("*.meta"))]
    left = [name for meta in metas for name in meta["exit_code_by_key"]]
    found: dict[str, str] = {}
    while left:
        process = Served(folder / "mutants", ["-x", "-q", *tests], environment)
        try:
            if process.status("") != "survived":
                raise RuntimeError(f"the tests of {', '.join(tests)} fail without any mutant")
            start = time.monotonic()
            process.status("")  # as quick as those behind it: what is imported, is
            seconds = times * (time.monotonic() - start) + more
            while left:
                name = left.pop(0)
                found[name] = process.status(name, seconds)
                if os.environ.get("SERVED_LOG"): print(name, found[name], round(time.monotonic()-start,1), flush=True)
                if found[name] == "timeout":
                    break
            else:
                if process.status("") != "survived":
                    raise RuntimeError(f"the tests of {', '.join(tests)} fail behind the last mutant, without any")
        finally:
            process.close()
    return found
