"""What is ended while it writes, each followed by a look at what is there then; run by `driver.py`."""

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bpelab import BPETokenizer, native
from bpelab.chat import transcript
from bpelab.chat.transcript import Transcript
from bpelab.cli.main import main
from bpelab.exercises import progress_store
from bpelab.formats import gguf_save, gpt2, minbpe, tiktoken_file
from bpelab.model import disk_cache
from bpelab.notebook import book_text
from bpelab.shards import open_shards

from .driver import at_each_step, at_random_moments, child

TEXT = book_text()[:20_000]
PROBE = "the harbour and the tide, low and lower"


def tokenizers() -> list[BPETokenizer]:
    return [BPETokenizer.train(TEXT, size, pattern="gpt2") for size in (600, 300)]


WRITERS: dict[str, Callable[[BPETokenizer, Path], object]] = {
    "huggingface": lambda tokenizer, folder: tokenizer.save(folder),
    "gpt2": lambda tokenizer, folder: gpt2.save(tokenizer.spec, folder),
    "minbpe": lambda tokenizer, folder: minbpe.save(tokenizer.spec, folder / "t.model"),
    "tiktoken": lambda tokenizer, folder: tiktoken_file.save_ranks(tokenizer.spec, folder / "t.tiktoken"),
    "gguf": lambda tokenizer, folder: gguf_save.save(tokenizer.spec, folder / "t.gguf"),
    "transcript": lambda tokenizer, folder: transcript.write(folder / "c.json", _conversation(tokenizer)),
}


def _conversation(tokenizer: BPETokenizer) -> Transcript:
    return Transcript([{"role": "user", "content": "x" * 50 * len(tokenizer)}])


def contents(folder: Path) -> dict[str, bytes]:
    """Name -> bytes of all that has got its name."""
    return {
        name: (folder / name).read_bytes()
        for name in os.listdir(folder)
        if not name.startswith(".") and (folder / name).is_file()
    }


def kills(run: Callable[[], object], number: int, rng: random.Random, steps: int = 40) -> Iterator[object]:
    yield from at_each_step(run, steps)
    yield from at_random_moments(run, number, rng)


def saves(folder: Path, number: int, rng: random.Random) -> None:
    """Each file is the old one or the new one, whole; what was left behind stands in nobody's way."""
    old, new = tokenizers()
    for name, write in WRITERS.items():
        place, wanted = folder / name, []
        for tokenizer in (old, new):
            place.mkdir()
            write(tokenizer, place)
            wanted.append(contents(place))
            shutil.rmtree(place)
        place.mkdir()
        write(old, place)
        found = set()
        for _ in kills(partial(write, new, place), number, rng):
            there = contents(place)
            assert there.keys() == wanted[0].keys(), (name, there.keys())
            kinds = [[there[file] == version[file] for version in wanted] for file in there]
            assert all(any(kind) for kind in kinds), (name, "a file is neither the old one nor the new")
            found |= {tuple(kind) for kind in kinds}
            write(old, place)
            assert contents(place) == wanted[0]
        assert {(True, False), (False, True)} <= found, (name, found)  # kills came before and after
        if name != "transcript":  # the temporary files that are still there are not opened
            pattern = "gpt2" if name in ("gpt2", "tiktoken") else None
            path = place if name in ("huggingface", "gpt2") else place / min(wanted[0])
            assert BPETokenizer.from_pretrained(path, pattern=pattern).encode(PROBE) == old.encode(PROBE)


def training(folder: Path, number: int, rng: random.Random) -> None:
    """`bpelab train --out` over a tokenizer that is there."""
    (folder / "a.txt").write_text(TEXT)
    out = folder / "out"

    def train(size: int) -> int:
        words = ["train", str(folder / "a.txt"), "--vocab-size", str(size), "--out", str(out), "--quiet"]
        return main(words)

    expected = []
    for size in (300, 280):
        assert train(size) == 0
        expected.append(contents(out))
    for _ in kills(partial(train, 300), number, rng):
        assert BPETokenizer.from_pretrained(out).decode(BPETokenizer.from_pretrained(out).encode(PROBE)) == PROBE
        assert contents(out) in expected
        train(280)
        assert contents(out) == expected[1]


def corpora(folder: Path, number: int, rng: random.Random) -> None:
    """`bpelab encode-files`, called again after each kill: no document is lost, none is there twice."""
    tokenizers()[1].save(folder / "tok")
    documents = [TEXT[at : at + rng.randint(1, 900)] + f" {at}" for at in range(0, len(TEXT), 300)]
    (folder / "a.txt").write_text("\n--\n".join(documents), newline="")

    def run(out: str) -> int:
        words = ["encode-files", str(folder / "a.txt"), "--separator", r"\n--\n", "--out", str(folder / out), "--quiet"]
        return main([*words, "--shard-tokens", "700", "--threads", "2", "--tokenizer", str(folder / "tok")])

    assert child(partial(run, "whole")) == 0
    expected = contents(folder / "whole")
    start = time.monotonic()
    assert child(partial(run, "again")) == 0
    longest = time.monotonic() - start
    assert contents(folder / "again") == expected
    for round_ in range(number):
        code = killed = 0
        while not killed or code:  # every run begins where the last one was ended
            code = child(partial(run, f"out{round_}"), rng.random() * longest if killed < 6 else None)
            killed += code != 0
        assert contents(folder / f"out{round_}") == expected
        shutil.rmtree(folder / f"out{round_}")
    shards, tokenizer = open_shards(folder / "whole"), BPETokenizer.from_pretrained(folder / "tok")
    shards.verify(tokenizer)
    found = [tokenizer.decode(shards.document(at).tolist()) for at in range(shards.documents)]
    assert found == documents


def tables(folder: Path, number: int, rng: random.Random) -> None:
    """The tables of vocabularies in BPELAB_CACHE, written by two processes of which one is ended."""
    disk_cache.SMALLEST = native.tables.SMALLEST = 300
    old, _ = tokenizers()
    old.save(folder / "tok")
    expected, cache = old.encode(PROBE), folder / "cache"
    cache.mkdir()
    os.environ["BPELAB_CACHE"] = str(cache)

    def opens(encoder: str) -> int:
        return int(BPETokenizer.from_pretrained(folder / "tok", encoder=encoder).encode(PROBE) != expected)

    for encoder, kept in (("heap", 1), ("native", 2)):
        for _ in kills(partial(opens, encoder), number, rng):
            assert child(partial(opens, encoder)) == 0
            names = [*cache.glob("*.tables"), *cache.glob("native/*.native")]
            assert len(names) == kept, names
            assert child(partial(opens, encoder)) == 0  # from what was kept
            for file in names:
                file.unlink()


def progress(folder: Path, number: int, rng: random.Random) -> None:
    """Which exercises were solved."""
    os.environ.update(BPELAB_HOME=str(folder), BPELAB_NO_PROGRESS="0")
    progress_store.remember("one")
    for _ in kills(partial(progress_store.remember, "two"), number, rng):
        assert progress_store.solved() in ({"one"}, {"one", "two"})
        progress_store.forget(["two"])
