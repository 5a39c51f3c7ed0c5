"""Runs that are killed, find no room, or meet another run: what is there in the end is what it would have been."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from bpelab import CorpusError, ShardsError
from bpelab.shards import open_shards
from bpelab.shards.index import read_index
from bpelab.shards.lock import locked

from ..conftest import ROOT, amount
from .corpora import SEPARATOR, contents, write

SIZES = 400


@pytest.fixture
def corpus(tmp_path, tokenizer, texts):
    """Arguments of a run over three files, one of them a long document, and what its folder holds in the end."""
    tokenizer.save(tmp_path / "tok")
    paths = [
        write(tmp_path / "a.jsonl.gz", ["", *texts, ""]),
        write(tmp_path / "b.txt", ["".join(texts)]),
        write(tmp_path / "c.txt", texts),
    ]
    arguments = {"paths": list(map(str, paths)), "separator": SEPARATOR, "end_of_document": True, "shard_tokens": 3_000}
    return {**arguments, "tokenizer": str(tmp_path / "tok"), "sizes": SIZES, "folder": str(tmp_path / "out")}


def undisturbed(corpus, tokenizer, tmp_path):
    arguments = {key: value for key, value in corpus.items() if key not in ("tokenizer", "sizes", "folder")}
    return contents(tokenizer.encode_files(folder=tmp_path / "undisturbed", **arguments).folder)


def start(corpus, **more) -> subprocess.Popen:
    words = [sys.executable, "-m", "tests.shards.writer", json.dumps({**corpus, **more})]
    return subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True)


def end(child) -> tuple[int, str]:
    _, said = child.communicate()
    return child.returncode, said


@pytest.mark.slow
def test_killed_before_each_step(corpus, tokenizer, texts, tmp_path, tiny):
    """Every run is killed a few steps behind where it began, until one of them comes to the end."""
    tiny(SIZES)
    expected = undisturbed(corpus, tokenizer, tmp_path)
    rng, code, kills, finished = random.Random(3), -1, 0, set()
    while code:
        code, said = end(start(corpus, stop_at=rng.randint(1, amount(40, 12))))
        assert code in (0, -signal.SIGKILL), said
        kills += code != 0
        if code:
            if (tmp_path / "out" / "index.json").exists():
                with pytest.raises(ShardsError, match="isn't finished"):
                    open_shards(tmp_path / "out")
            kept = {name for name in contents(tmp_path / "out") if name.startswith("shard")}
            assert finished <= kept  # whole shards are not written again
            finished = {shard.file for shard in read_index(tmp_path / "out").shards} if kept else set()
        assert kills < 200
    assert kills
    assert contents(tmp_path / "out") == expected
    open_shards(tmp_path / "out").verify(tokenizer)


@pytest.mark.slow
def test_killed_at_random_moments(corpus, tokenizer, tmp_path, tiny):
    tiny(SIZES)
    expected, rng, code, kills = undisturbed(corpus, tokenizer, tmp_path), random.Random(4), -1, 0
    while code:
        child = start(corpus)
        while child.poll() is None and not (tmp_path / "out" / "index.json").exists():
            time.sleep(0.01)
        if kills < amount(4, 100):
            time.sleep(rng.random() * (0.2 if kills % 2 else 1))
            child.kill()
            kills += 1
        code, said = end(child)
        assert code in (0, -signal.SIGKILL), said
    assert contents(tmp_path / "out") == expected


@pytest.mark.slow
@pytest.mark.parametrize("way", ["spaces", "named pattern"])
@pytest.mark.parametrize("tokens", [1, 2, 50])
def test_going_on_from_every_shard(tokenizer, texts, tmp_path, tiny, monkeypatch, way, tokens):
    """A run that fails behind each of its shards in turn: also in a document that is encoded as a stream."""
    from bpelab.shards.writer import ShardWriter

    from .test_forms import WAYS

    tiny(20)
    changed = tokenizer.with_options(**WAYS[way])
    write(tmp_path / "a.jsonl", ["", "", "one two three four five six seven", "", ""])
    (tmp_path / "b.txt").write_text("in the beginning there was the word " * (tokens if tokens < 50 else 30))
    options = {"paths": [tmp_path / "a.jsonl", tmp_path / "b.txt"], "shard_tokens": tokens, "end_of_document": True}
    expected = contents(changed.encode_files(folder=tmp_path / "whole", **options).folder)
    close, closed = ShardWriter._close, 0

    def failing(self, position):
        nonlocal closed
        close(self, position)
        closed += 1
        if not self._index.complete:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(ShardWriter, "_close", failing)
    for _ in range(500):
        try:
            changed.encode_files(folder=tmp_path / "out", **options)
            break
        except ShardsError as error:
            assert "No space left on device" in str(error)
    assert closed - len(read_index(tmp_path / "out").shards) in (0, 1)  # each was written once
    assert contents(tmp_path / "out") == expected


@pytest.mark.slow
def test_no_room(corpus, tokenizer, tmp_path, tiny):
    """A file can't grow, as on a full disk: said in one line, nothing half written, and the next run goes on."""
    tiny(SIZES)
    corpus["shard_tokens"] = 1_000
    expected = undisturbed(corpus, tokenizer, tmp_path)
    for largest, shards in ((200, 0), (2_000, 0), (5_000, 15)):  # the index has no room, a shard, the index later
        code, said = end(start(corpus, largest=largest))
        assert code == 1
        assert said.count("\n") == 1
        assert "can't be written: File too large. Whole shards are kept" in said
        names = set(contents(tmp_path / "out"))
        assert not [name for name in names if name.startswith(".")]
        if "index.json" in names:
            assert len(read_index(tmp_path / "out").shards) <= shards
    assert end(start(corpus)) == (0, "")
    assert contents(tmp_path / "out") == expected


def test_two_at_once(corpus, tokenizer, tmp_path):
    (tmp_path / "out").mkdir()
    with locked(tmp_path / "out"):
        code, said = end(start(corpus))
        assert (code, said.count("\n")) == (1, 1)
        assert "another process is writing to it; wait until that has ended, or choose another folder" in said
    assert end(start(corpus)) == (0, "")


def test_finished_runs_do_nothing(tokenizer, texts, tmp_path):
    path = write(tmp_path / "a.jsonl", texts)
    tokenizer.encode_files(path, tmp_path / "out", shard_tokens=500)
    before = {name: os.stat(tmp_path / "out" / name).st_mtime_ns for name in contents(tmp_path / "out")}
    tokenizer.encode_files(path, tmp_path / "out", shard_tokens=500)
    assert before == {name: os.stat(tmp_path / "out" / name).st_mtime_ns for name in contents(tmp_path / "out")}


def test_other_arguments_are_refused(tokenizer, texts, tmp_path, tiny):
    """Each by name; `overwrite` begins anew and leaves nothing of what was there."""
    path = write(tmp_path / "a.jsonl", texts)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("[]")
    inputs = [path, bad]
    tiny(SIZES)
    with pytest.raises(CorpusError, match="line 1: expected an object"):
        tokenizer.encode_files(inputs, tmp_path / "out", shard_tokens=500)
    with pytest.raises(ShardsError, match=r"isn't finished: [1-9]\d shards are there"):
        open_shards(tmp_path / "out")
    other = write(tmp_path / "other.jsonl", texts)
    for changes, said in (
        ({"shard_tokens": 400}, "shard_tokens was 500 and is 400"),
        ({"field": "content"}, "field was 'text' and is 'content'"),
        ({"separator": "--", "dtype": "uint32"}, "dtype was 'uint16' and is 'uint32'; separator was None and is '--'"),
        ({"end_of_document": True}, "end_of_document was None and is '<|endoftext|>'"),
        ({"allowed_special": "all"}, "allowed_special was [] and is ['<|endoftext|>', '<|other|>']"),
        ({"shard_format": "bin"}, "shard_format was 'npy' and is 'bin'"),
        ({"paths": [path]}, f"input 1 was '{bad}' and is none (2 inputs, now 1)"),
        ({"paths": [path, other]}, f"input 1 was '{bad}' and is '{other}'"),
    ):
        with pytest.raises(ShardsError, match="was begun with other arguments") as caught:
            tokenizer.encode_files(**{"paths": inputs, "folder": tmp_path / "out", "shard_tokens": 500, **changes})
        assert said in str(caught.value)
        assert "pass overwrite=True (--overwrite), which deletes its shards and begins anew" in str(caught.value)
    with pytest.raises(ShardsError, match=r"tokenizer was '[0-9a-f]{59}"):
        tokenizer.with_options(pattern="gpt2").encode_files(inputs, tmp_path / "out", shard_tokens=500)
    bad.write_text('{"text": "good"}')
    with pytest.raises(ShardsError, match="its size was 2 and is 16"):
        tokenizer.encode_files(inputs, tmp_path / "out", shard_tokens=500)
    shards = tokenizer.encode_files(inputs, tmp_path / "out", shard_tokens=5_000, overwrite=True)
    assert set(contents(tmp_path / "out")) == {"index.json", "shard-00000.npy", "shard-00000.documents.npy"} | {
        shard.file for shard in shards.index.shards
    } | {shard.documents_file for shard in shards.index.shards}
    os.utime(bad, (1, 1))
    with pytest.raises(ShardsError, match=r"was written with other arguments: .*bad.jsonl: was modified since"):
        tokenizer.encode_files(inputs, tmp_path / "out", shard_tokens=5_000)


def test_a_shard_that_went_missing(tokenizer, texts, tmp_path):
    path = write(tmp_path / "a.jsonl", texts)
    tokenizer.encode_files(path, tmp_path / "out", shard_tokens=500)
    (tmp_path / "out" / "shard-00001.npy").unlink()
    with pytest.raises(ShardsError, match=r"shard-00001.npy: can't be read: .*; bring the file back, or write"):
        tokenizer.encode_files(path, tmp_path / "out", shard_tokens=500)


def test_a_folder_of_something_else(tokenizer, tmp_path):
    path = write(tmp_path / "a.jsonl", ["a"])
    with pytest.raises(ShardsError, match=r"holds 'a.jsonl' and no index.json, so it is not a folder of shards"):
        tokenizer.encode_files(path, tmp_path, overwrite=True)
    with pytest.raises(ShardsError, match=r"can't be written: (File exists|Not a directory)"):
        tokenizer.encode_files(path, path)
    assert os.listdir(tmp_path) == ["a.jsonl"]
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "index.json").write_text('{"version": 2, "shards": []}')  # another library's
    with pytest.raises(ShardsError, match=r"index.json: bpelab_shards: expected 1, found None"):
        tokenizer.encode_files(path, tmp_path / "theirs", overwrite=True)
    assert (tmp_path / "theirs" / "index.json").exists()


def test_an_input_that_changes_under_way(tokenizer, tmp_path, monkeypatch):
    from bpelab.core.pipeline import Pipeline

    path, arrays = write(tmp_path / "a.jsonl", ["a"] * 9), Pipeline.arrays

    def slow(self, *args):
        with path.open("a") as file:
            file.write("\n")
        return arrays(self, *args)

    monkeypatch.setattr(Pipeline, "arrays", slow)
    monkeypatch.setattr("bpelab.shards.partition.MAX_PARTS", 1)
    with pytest.raises(CorpusError, match=r"a.jsonl: was changed while it was read"):
        tokenizer.encode_files(path, tmp_path / "out")
