"""A process of its own that does harm to children of itself: `python -m tests.faults.driver WHAT FOLDER COUNT SEED`.

It has imported what they need and runs one thread, so a child is there at once and may be ended at any moment, or
before any step that changes a folder. It ends with an error where a file is then neither the old one nor the new.
"""

import builtins
import importlib
import io
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

HUNG = 600.0
"""Seconds after which a child is taken for hung."""
STEPS = ("open", "write", "fsync", "replace", "rename", "unlink", "mkdir", "chmod")


def child(run: Callable[[], object], kill_after: float | None = None, hung: float = HUNG) -> int:
    """Run something in a child: its exit code, or minus the signal that ended it. Errors go to standard error."""
    if not (number := os.fork()):
        code = 70
        try:
            code = int(run() or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    deadline = time.monotonic() + hung
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(number, signal.SIGKILL)
    while not (ended := os.waitpid(number, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
            raise AssertionError("a child hung")
        time.sleep(0.001)
    return os.waitstatus_to_exitcode(ended[1])


def die_at(step: int) -> None:
    """End this process, as by `kill -9`, before its n-th step that opens a file or changes a folder."""
    done = 0

    def counted(function):
        def call(*args, **options):
            nonlocal done
            done += 1
            if done == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **options)

        return call

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))
    io.open = builtins.open = counted(builtins.open)


def at_each_step(run: Callable[[], object], most: int) -> Iterator[int]:
    """Run it in children that die before one step or another, up to `most` of them, from the first step to the last."""
    step, by = 1, 1
    while True:
        code = child(lambda: (die_at(step), run())[1])  # noqa: B023
        assert code in (0, -signal.SIGKILL), code
        if code == 0:
            return
        yield step
        if step >= most // 2:
            by += 1
        step += by


def at_random_moments(run: Callable[[], object], number: int, rng: random.Random) -> Iterator[float]:
    """Run it in children that are killed at some moment between their begin and somewhat behind their end."""
    start = time.monotonic()
    assert child(run) == 0
    longest = 1.2 * (time.monotonic() - start) + 0.002
    for _ in range(number):
        moment = longest * rng.random()
        assert child(run, moment) in (0, -signal.SIGKILL)
        yield moment


def main() -> None:
    what, folder, number, seed = sys.argv[1:]
    module, name = what.split(":")
    os.fsync = lambda handle: None  # there is no power cut, and a disk takes long for it
    getattr(importlib.import_module(f"tests.faults.{module}"), name)(Path(folder), int(number), random.Random(seed))


if __name__ == "__main__":
    main()
