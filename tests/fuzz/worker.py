"""A process that tries inputs for some time. Whoever started it learns what was found, even if this process dies.

Run as `python -m tests.fuzz.worker FOLDER SECONDS SEED`. In FOLDER it writes `now.json`, the input that is being tried,
and a file for each finding, named as in the corpus; on standard output a line of counts when it is done.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed as seeded, settings

from .properties import OPENER, PROPERTIES, in_time

BATCH, SMALL = 100, 30
"""Inputs of one property before the next has its turn; fewer in what takes less than a minute."""
MEMORY = 8_000_000_000
"""Address space."""


def batch(name: str, seed: int, size: int, trying: Callable[[dict[str, Any]], None]) -> tuple[int, str, dict[str, Any]]:
    """How many inputs were tried; what was wrong, if anything; and then the smallest input with which it is."""
    given_property, tried = PROPERTIES[name], list[dict[str, Any]]()

    @seeded(seed)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(given_property.strategy)
    def run(drawn: dict[str, Any]) -> None:
        tried[1:] = [drawn]
        trying(drawn)
        counts[0] += 1
        with in_time():
            given_property.check(**drawn)

    counts = [0]
    try:
        run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic in Rust is no Exception
        causes = [error, *getattr(error, "exceptions", ())]  # of what failed once and then didn't
        return counts[0], "; ".join(f"{type(cause).__name__}: {cause}" for cause in causes), tried[-1]
    return counts[0], "", {}


def name_of(name: str, problem: str, drawn: dict[str, Any]) -> str:
    """A file's name that says what it is: the property, the beginning of the problem, and a number that tells apart."""
    words = "".join(char if char.isascii() and char.isalnum() else " " for char in problem.partition("\n")[0]).split()
    number = sha256(json.dumps(drawn).encode()).hexdigest()[:6]
    return f"{name}-{'-'.join(words[:8])[:60].lower()}-{number}.json"


def written(name: str, problem: str, drawn: dict[str, Any]) -> str:
    """A finding as the corpus keeps it."""
    return json.dumps({"property": name, "found": problem[:500], "input": drawn}, indent=1, ensure_ascii=True) + "\n"


def main(folder: Path, seconds: float, seed: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tried = dict.fromkeys(PROPERTIES, 0)

    def go_on(name: str, number: int, size: int) -> None:
        def trying(drawn: dict[str, Any]) -> None:
            (folder / "now.json").write_text(written(name, "the process ended", drawn))

        count, problem, drawn = batch(name, seed + number, size, trying)
        tried[name] += count
        if problem:
            (folder / name_of(name, problem, drawn)).write_text(written(name, problem, drawn))

    for name in PROPERTIES:  # tokenizers are made before time counts
        go_on(name, 0, 1)
    number, until, spent = 0, time.monotonic() + seconds, dict.fromkeys(PROPERTIES, 0.0)
    while (start := time.monotonic()) < until:
        name = min(spent, key=lambda name: spent[name])  # none takes the time of the others
        go_on(name, number, BATCH if seconds > 60 else SMALL)
        spent[name] += time.monotonic() - start
        number += 1
    (folder / "now.json").unlink(missing_ok=True)
    OPENER.close()
    print(json.dumps(tried))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
