"""A lock holds as long as ids do, and says which has moved."""

import json
from pathlib import Path

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.cli.main import main
from bpelab.comparison.lock import PROBES, make_lock, moved_probes, read_lock, verify_lock, write_lock
from bpelab.errors import BPELabError, TokenizerFileError


@pytest.fixture
def tokenizer():
    return BPETokenizer.train("low lower lowest 123 12 " * 9, 265, special_tokens=["<|end|>"])


def test_a_lock_holds(tokenizer, tmp_path):
    path = tmp_path / "ids.json"
    lock = make_lock(tokenizer, "mine", ["123 lowest"])
    write_lock(path, lock)
    assert read_lock(path) == lock
    texts = [probe["text"] for probe in lock["probes"]]
    assert texts[: len(PROBES)] == list(PROBES) and texts[-1] == "123 lowest" and "<|end|>" in texts
    assert all(tokenizer.encode(probe["text"], allowed_special="all") == probe["ids"] for probe in lock["probes"])
    assert verify_lock(tokenizer, path) == len(texts)


def test_ids_that_move_are_named(tokenizer, tmp_path):
    path = tmp_path / "ids.json"
    write_lock(path, make_lock(tokenizer, "mine"))
    moved = moved_probes(tokenizer.with_options(pattern="qwen2"), read_lock(path))
    assert moved and all("12" in probe.text for probe in moved)
    first = moved[0]
    assert first.locked[: first.at] == first.now[: first.at] and first.locked[first.at] != first.now[first.at]
    with pytest.raises(
        BPELabError, match=r"probes have different ids\. The first: the ids of '0 12 123 .* differ from number 2 on: "
    ):
        verify_lock(tokenizer.with_options(pattern="qwen2"), path)


def test_ids_that_no_probe_has(tokenizer, tmp_path):
    path = tmp_path / "ids.json"
    write_lock(path, make_lock(tokenizer, "mine"))
    tokens = {**tokenizer.model.tokens, 700: b"never"}
    model = BPEModel(tokens, tokenizer.model.merges, tokenizer.model.alphabet)
    other = BPETokenizer(model, special_tokens=tokenizer.spec.special_tokens)
    assert moved_probes(other, read_lock(path)) == []
    with pytest.raises(BPELabError, match="have the same ids, but other ids have different tokens now"):
        verify_lock(other, path)


@pytest.mark.parametrize(
    "change, where",
    [
        ({"format": "bpelab lock 9"}, "format"),
        ({"tokens": 5}, "tokens"),
        ({"probes": []}, r"probes\[0\]"),
        ({"probes": [{"text": "a", "ids": [1]}, {"text": "b", "ids": [True]}]}, r"probes\[1\]"),
        ({"probes": [{"text": 5, "ids": [1]}]}, r"probes\[0\]"),
    ],
)
def test_a_broken_lock_is_named(change, where, tokenizer, tmp_path):
    path = tmp_path / "ids.json"
    path.write_text(json.dumps({**make_lock(tokenizer, "mine"), **change}))
    with pytest.raises(TokenizerFileError, match=where):
        read_lock(path)
    path.write_bytes(b"\xff{")
    with pytest.raises(TokenizerFileError, match="not a readable lock"):
        read_lock(path)


def test_the_commands(tokenizer, tmp_path, capsys):
    one, two, path = str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "ids.json")
    tokenizer.save(one)
    tokenizer.with_options(pattern="qwen2").save(two)
    Path(tmp_path, "more.txt").write_text("low 123\nlowest\n")
    assert main(["lock", one, "--out", path, "--text", str(tmp_path / "more.txt")]) == 0
    number = len(read_lock(Path(path))["probes"])
    assert capsys.readouterr().out == f"{path}: the ids of {number} texts\n"
    assert main(["verify", "--lock", path]) == 0  # by the name that is in the lock
    assert capsys.readouterr().out == f"{path}: {one} has the same ids for {number} texts\n"
    assert main(["verify", "--lock", path, "-t", two]) == 1
    said = capsys.readouterr()
    assert said.out == "" and "probes have different ids. The first: the ids of '0 12 123" in said.err
    for words in ([], ["shards", "--lock", path], ["--lock", path, "--against"]):
        with pytest.raises(SystemExit) as stopped:
            main(["verify", *words])
        assert stopped.value.code == 2
        assert "or --lock FILE" in capsys.readouterr().err
