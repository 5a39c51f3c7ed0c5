"""A model's folder, adapted while processes are ended, disks are full and folders are closed; run by `driver.py`."""

import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bpelab import BPETokenizer
from bpelab.adapt import adapt_model
from bpelab.notebook import book_text

from ..adapt.models import tensors_of, write_model
from .disks import NOBODY, REFUSED, no_larger_than, refusal
from .driver import child
from .kills import contents, kills


def prepared(folder: Path) -> tuple[Callable[[Path], object], Path, dict[str, bytes]]:
    """How a folder is written; the model; and what is in the folder then."""
    old = BPETokenizer.train(book_text()[:20_000], 400, pattern="gpt2", special_tokens=["<|end|>"], eos_token="<|end|>")
    new = old.with_special_tokens([f"<|{number}|>" for number in range(100)])
    model = write_model(folder / "model", old, tensors_of(old, bias=True), shards=3, generation={"eos_token_id": 1})
    (model / "README.md").write_text("a model")
    write = partial(adapt_model, model, new)
    write(folder / "first")
    expected = contents(folder / "first")
    assert len(expected) == 11
    shutil.rmtree(folder / "first")
    return write, model, expected


def killed(folder: Path, number: int, rng: random.Random) -> None:
    """There is no folder or a whole one; the model is what it was; what was left over is in no one's way."""
    write, model, expected = prepared(folder)
    before, found = contents(model), set()

    def run() -> None:
        write(folder / f"out{os.getpid()}")

    for _ in kills(run, number, rng, steps=80):
        written = list(folder.glob("out*"))
        found.add(bool(written))
        for out in written:
            assert contents(out) == expected
            shutil.rmtree(out)
        assert contents(model) == before
    assert found == {True, False}
    run()
    assert contents(folder / f"out{os.getpid()}") == expected


def sizes(folder: Path, number: int, rng: random.Random) -> None:
    """A file that may not grow beyond any of so many sizes."""
    write, _, expected = prepared(folder)
    largest = max(map(len, expected.values()))
    for size in [0, 1, 4_096, largest - 1, *(rng.randrange(largest) for _ in range(number))]:

        def run() -> int:
            with no_larger_than(size):  # noqa: B023
                return refusal(lambda: write(folder / "out"), folder / "out", "File too large")

        assert child(run) == REFUSED, size
        assert os.listdir(folder) == ["model"], "something is left behind"


def full(disk: Path, number: int, rng: random.Random) -> None:
    """A disk whose room ends before the weights, or after them."""
    write, model, expected = prepared(disk.parent)
    before, filler, refused = contents(model), disk / "filler", 0
    total = sum(map(len, expected.values()))
    for _ in range(number):
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        filler.write_bytes(bytes(max(0, free - rng.randrange(total + 40_000))))
        code = child(lambda: refusal(lambda: write(disk / "out"), disk / "out", "No space left on device"))
        refused += code == REFUSED
        filler.unlink()
        assert contents(model) == before and code in (0, REFUSED)
        assert os.listdir(disk) == ([] if code else ["out"])
        if not code:
            assert contents(disk / "out") == expected
            shutil.rmtree(disk / "out")
    assert refused


def closed(folder: Path, number: int, rng: random.Random) -> None:
    """A folder of another user, or (COUNT is 1) a read-only file system; the model in it can be read."""
    write, model, _ = prepared(folder)
    before = contents(model)
    problem = "Read-only file system" if number else "Permission denied"
    if number:
        os.system(f"mount -o remount,ro {folder}")

    def run() -> int:
        if not number:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return refusal(lambda: write(folder / "out"), folder / "out", problem)

    assert child(run) == REFUSED
    assert contents(model) == before and os.listdir(folder) == ["model"]
