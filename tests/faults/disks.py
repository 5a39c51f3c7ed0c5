"""Disks that are full, and folders that nobody may write to; run by `driver.py`."""

import importlib
import os
import random
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from bpelab import BPELabError, BPETokenizer
from bpelab.chat import transcript
from bpelab.cli.main import main
from bpelab.model import disk_cache
from bpelab.notebook import book_text
from bpelab.shards import open_shards

from .driver import child
from .kills import PROBE, TEXT, WRITERS, contents, tokenizers

NOBODY = 65_534
REFUSED = 3


@contextmanager
def no_larger_than(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def refusal(write: Callable[[], object], place: Path, problem: str) -> int:
    """REFUSED where writing ends with an error that names a file in `place` and the problem; 0 where it succeeds."""
    try:
        write()
    except (OSError, BPELabError) as error:
        assert f"{place}" in str(error) and problem in str(error), str(error)
        assert ".tmp" not in str(error) and f"{os.sep}." not in str(error), f"names a temporary file: {error}"
        return REFUSED
    return 0


def sizes(folder: Path, number: int, rng: random.Random) -> None:
    """A file that may not grow beyond any of so many sizes: all of the new one, or the old ones and nothing else."""
    old, new = tokenizers()[::-1]
    for name, write in WRITERS.items():
        place = folder / name
        place.mkdir()
        write(new, place)
        largest = max(map(len, contents(place).values()))
        write(old, place)
        before = contents(place)
        for size in [0, 1, 4_096, largest - 1, *(rng.randrange(largest) for _ in range(number))]:

            def run() -> int:
                with no_larger_than(size):  # noqa: B023
                    return refusal(lambda: write(new, place), place, "File too large")  # noqa: B023

            assert child(run) == REFUSED, (name, size)
            assert contents(place) == before, (name, size)
            assert len(os.listdir(place)) == len(before), (name, "something is left behind")
        assert child(lambda: write(new, place)) == 0  # noqa: B023
        assert contents(place) != before


def full(disk: Path, number: int, rng: random.Random) -> None:
    """A real disk with 100 kB of room, all of which but some is taken: as `sizes`, but it is the disk that refuses."""
    old, new = tokenizers()[::-1]
    for name, write in WRITERS.items():
        place, filler = disk / name, disk / "filler"
        place.mkdir()
        write(old, place)
        before = contents(place)
        refused = 0
        for _ in range(number):
            free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
            filler.write_bytes(bytes(max(0, free - rng.choice((0, 4_096, 8_192)))))
            code = child(lambda: refusal(lambda: write(new, place), place, "No space left on device"))  # noqa: B023
            assert code in (REFUSED, 0), code
            if code == REFUSED:
                assert contents(place) == before and len(os.listdir(place)) == len(before), name
            refused += code == REFUSED
            filler.unlink()
            write(old, place)
        assert refused, name
        for file in place.iterdir():
            file.unlink()
    said = disk.parent / "said"
    (disk.parent / "a.txt").write_text(book_text()[:80_000])
    (disk.parent / "b.txt").write_text("\n".join(f"{number} {TEXT[number:][:90]}" for number in range(2_000)))
    new.save(disk.parent / "tok")

    def command(*words: str) -> tuple[int, str]:
        with said.open("w") as file:

            def run() -> int:
                os.dup2(file.fileno(), 2)
                return main([*words])

            code = child(run)
        return code, said.read_text()

    out, corpus = disk / "out", str(disk.parent / "b.txt")
    code, text = command("train", str(disk.parent / "a.txt"), "--vocab-size", "2500", "--out", str(out), "--quiet")
    problem, _, kept = text.removesuffix("\n").partition("; what was trained is in ")
    assert code == 1 and problem == f"bpelab: [Errno 28] No space left on device: '{out / 'tokenizer.json'}'", text
    assert os.listdir(out) == [] and len(BPETokenizer.from_pretrained(kept)) == 2_500
    shutil.rmtree(kept)
    words = ["encode-files", corpus, "--out", str(disk / "shards"), "--tokenizer", str(disk.parent / "tok")]
    words += ["--separator", r"\n", "--shard-tokens", "3000", "--quiet"]
    code, text = command(*words)
    assert (code, text.count("\n")) == (1, 1) and "No space left on device. Whole shards are kept" in text, text
    kept = contents(disk / "shards")
    assert len(kept) > 4
    os.system(f"mount -o remount,size=20m {disk}")  # a larger disk
    assert command(*words) == (0, "")
    after = contents(disk / "shards")
    assert {name: after[name] for name in kept if name != "index.json"} == {
        name: data for name, data in kept.items() if name != "index.json"
    }
    shards, tokenizer = open_shards(disk / "shards"), BPETokenizer.from_pretrained(disk.parent / "tok")
    shards.verify(tokenizer)
    found = [tokenizer.decode(shards.document(at).tolist()) for at in range(shards.documents)]
    assert found == [line for line in Path(corpus).read_text().split("\n") if line]


def kept(cache: Path) -> list[Path]:
    """The tables in a cache; a folder without one may be left, and notes of what was checked."""
    return [path for path in cache.rglob("*") if path.is_file() and path.parent.name != "checked"]


def no_cache(disk: Path, number: int, rng: random.Random) -> None:
    """A cache that has no room for a table keeps none, and nobody is told."""
    disk_cache.SMALLEST = 300
    tokenizer = tokenizers()[0]
    tokenizer.save(disk.parent / "tok")
    os.environ["BPELAB_CACHE"] = str(disk / "cache")
    filler = disk / "filler"
    filler.write_bytes(bytes(os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize))
    for _ in range(2):
        assert BPETokenizer.from_pretrained(disk.parent / "tok").encode(PROBE) == tokenizer.encode(PROBE)
        assert kept(disk / "cache") == []
    filler.unlink()
    assert BPETokenizer.from_pretrained(disk.parent / "tok").encode(PROBE) == tokenizer.encode(PROBE)
    assert len(kept(disk / "cache")) == 1


def closed(folder: Path, number: int, rng: random.Random) -> None:
    """A folder that may not be written to: as a user who has no leave to, or (COUNT is 1) on a read-only file system.

    What is there is read as ever; what would be written is refused by name, and the old files stay as they are.
    """
    problem = "Read-only file system" if number else "Permission denied"
    disk_cache.SMALLEST = 300
    old, new = tokenizers()
    places = {name: folder / name for name in [*WRITERS, "cache"]}
    for place in places.values():
        place.mkdir(exist_ok=True)
    for name, write in WRITERS.items():
        write(old, places[name])
    corpus = folder / "a.txt"
    corpus.write_text(TEXT)
    expected = old.encode(PROBE)
    options = {"paths": [corpus], "shard_tokens": 700}
    old.encode_files(folder=folder / "shards", **options)
    before = {name: contents(place) for name, place in places.items()}
    reads = [places["huggingface"], places["minbpe"] / "t.model", places["gguf"] / "t.gguf"]

    def read() -> int:
        os.environ["BPELAB_CACHE"] = str(folder / "cache")
        for path in reads:
            assert BPETokenizer.from_pretrained(path).encode(PROBE) == expected
        open_shards(folder / "shards").verify(old)
        assert transcript.read(places["transcript"] / "c.json").messages
        return 0

    def write_all() -> int:
        for name, write in WRITERS.items():
            assert refusal(partial(write, new, places[name]), places[name], problem) == REFUSED, name
        new_shards = partial(new.encode_files, folder=folder / "shards", overwrite=True, **options)
        assert refusal(new_shards, folder / "shards", problem) == REFUSED
        assert refusal(partial(new.save, folder / "new"), folder / "new", problem) == REFUSED
        return main(["train", str(corpus), "--vocab-size", "300", "--out", str(places["huggingface"]), "--quiet"])

    for late in ("locale", "bpelab.cli.train"):  # by argparse, by the command line
        importlib.import_module(late)
    read()  # what is imported late is there then: a user without leave can't
    for file in kept(places["cache"]):
        file.unlink()
    with suppress(AssertionError):  # the folder is open still
        write_all()
    for name, write in WRITERS.items():
        write(old, places[name])
    if number:
        os.system(f"mount -o remount,ro {folder}")
    for run, code in ((read, 0), (write_all, 1)):
        assert child(run if number else lambda: (os.setgid(NOBODY), os.setuid(NOBODY), run())[2]) == code  # noqa: B023
    assert {name: contents(place) for name, place in places.items()} == before, "a file was changed"
    assert kept(places["cache"]) == [], "something was kept"


def speechless(folder: Path, number: int, rng: random.Random) -> None:
    """Standard output that has no room, or was closed: said in one line, exit code 1."""
    tokenizers()[0].save(folder / "tok")
    (folder / "in").write_text("low lower\n" * 3_000)
    (folder / "ids").write_text("108 111 119 " * 30_000)
    name = str(folder / "tok")
    calls = [
        (["encode", "low", "-t", name], "in"),
        (["info", name, "--show-tokens"], "in"),
        (["decode", "-t", name], "ids"),
        (["count", "low", "--json", "-t", name], "in"),
        (["encode", "-t", name], "in"),
        (["stream", "-t", name], "in"),
        (["stream", "--decode", "-t", name], "ids"),
        (["doctor"], "in"),
    ]
    for words, given in calls[:number]:
        for unbuffered in (False, True):

            def run() -> int:
                os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
                os.dup2(os.open(folder / given, os.O_RDONLY), 0)  # noqa: B023
                os.dup2(os.open(folder / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
                options = ["-u"] if unbuffered else []  # noqa: B023
                environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
                os.execve(sys.executable, [sys.executable, *options, "-m", "bpelab", *words], environment)  # noqa: B023

            code, said = child(run), (folder / "said").read_text()
            assert said == "bpelab: standard output can't be written: No space left on device\n", (words, said)
            assert code == 1, (words, code)
