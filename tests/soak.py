"""The long counts: the suite with BPELAB_SOAK=1, fuzzing, mutation, and a dated line in tests/soak.log for each part.

Run by `make soak`; names of parts as arguments run those alone. A part that fails is written down as failed; the log is
committed, so that anyone can see when the full counts last passed, on what, and how long they took.
"""

import datetime
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
OTHERS = {"fuzz": ["-m", "tests.fuzz"], "mutation": ["-m", "tests.mutation"]}
"""Parts that are no tests of pytest's; the last line that they print says what came of them."""
NOT_HERE = ["backends"]
"""Tests for an environment of their own: `make test-backends`."""
WITH_TESTS = sorted({path.relative_to(HERE).parts[0] for path in HERE.rglob("test_*.py")} - {*NOT_HERE, *OTHERS})
PARTS = [*WITH_TESTS, *OTHERS]


def main() -> int:
    failed = 0
    for part in sys.argv[1:] or PARTS:
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, *OTHERS.get(part, ["-m", "pytest", "-q", "-n", "2", str(HERE / part)])],
            cwd=HERE.parent,
            env={**os.environ, "BPELAB_SOAK": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        failed |= done.returncode
        summary = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-200:]
        minutes = (time.monotonic() - start) / 60
        verdict = "FAILED" if done.returncode else "passed"
        line = (
            f"{datetime.date.today()}  {part:20} {verdict} {minutes:6.1f} min  {summary.strip('= ')}  "
            f"(Python {platform.python_version()}, {platform.machine()})"
        )
        print(line, flush=True)
        with (HERE / "soak.log").open("a", encoding="utf-8") as log:
            log.write(line + "\n")
        if done.returncode:
            print(done.stdout[-5_000:])
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
