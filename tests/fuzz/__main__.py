"""Fuzz for some time: `python -m tests.fuzz [SECONDS [SEED]]`; ten minutes by default, with a seed that is printed.

The inputs of the corpus come first. New ones are tried by processes of their own (`worker.py`), so that one that
crashes, fills its memory or hangs is a finding too. Findings are made small and written to `tests/fuzz/corpus/`, where
every later run, and `make test`, meets them first. Exits with 1 if there was any.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..conftest import PUBLISHED_ONLY, ROOT

CORPUS = Path(__file__).parent / "corpus"
SLICE, SPARE = 300.0, 180.0
"""Seconds of one process, and how much longer it may take to begin, to make a finding small, and to end."""


def replay() -> list[str]:
    """What is wrong with the inputs of the corpus."""
    from .properties import OPENER, PROPERTIES, in_time

    wrong = []
    for path in sorted(CORPUS.glob("*.json")):
        entry = json.loads(path.read_text(encoding="utf-8"))
        try:
            with in_time():
                PROPERTIES[entry["property"]].check(**entry["input"])
        except Exception as error:
            wrong.append(f"{path.name}: {type(error).__name__}: {error}")
    OPENER.close()
    return wrong


def fuzz(seconds: float, seed: int, corpus: Path) -> tuple[dict[str, int], list[str]]:
    """How many inputs of each property were tried, and the names of the findings, which are written to `corpus`."""
    tried, found, until, number = dict[str, int](), list[str](), time.monotonic() + seconds, 0
    while (left := until - time.monotonic()) > 0:
        with tempfile.TemporaryDirectory() as folder:
            counts, names = _slice(Path(folder), min(left, SLICE), seed + 1_000 * number, corpus)
        for name, count in counts.items():
            tried[name] = tried.get(name, 0) + count
        found += names
        number += 1
    return tried, found


def _slice(folder: Path, seconds: float, seed: int, corpus: Path) -> tuple[dict[str, int], list[str]]:
    words = [
        sys.executable,
        "-W",
        "error",
        "-W",
        PUBLISHED_ONLY,
        "-m",
        "tests.fuzz.worker",
        str(folder),
        str(seconds),
        str(seed),
    ]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    counts = dict[str, int]()
    try:
        out, errors = process.communicate(timeout=seconds + SPARE)
        if process.returncode == 0:
            counts = json.loads(out.splitlines()[-1])
        ended = f"ended with {process.returncode}: {errors[-300:]}"
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        ended = f"took more than {SPARE} seconds longer than it was given"
    now = folder / "now.json"
    if process.returncode and now.exists():
        entry = json.loads(now.read_text(encoding="utf-8"))
        now.rename(folder / f"{entry['property']}-a-process-{seed}.json")
    elif process.returncode:
        raise RuntimeError(f"the process with the seed {seed} {ended}")
    for path in folder.glob("*.json"):
        (corpus / path.name).write_bytes(path.read_bytes())
    return counts, sorted(path.name for path in folder.glob("*.json"))


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as cache:  # nobody's own tables are read or written
        os.environ.update(BPELAB_CACHE=cache)
        wrong = replay()
        tried, found = fuzz(seconds, seed, CORPUS)
    for line in [*wrong, *(f"found: {name}" for name in found)]:
        print(line)
    shares = ", ".join(f"{name} {count:,}" for name, count in tried.items())
    total = sum(tried.values())
    print(
        f"{total:,} inputs in {seconds:.0f} s, {total / seconds:.0f} a second ({shares}); "
        f"{len(list(CORPUS.glob('*.json')))} in the corpus, {len(wrong)} of them wrong; {len(found)} new findings; "
        f"seed {seed}"
    )
    return bool(wrong or found)


if __name__ == "__main__":
    raise SystemExit(main())
