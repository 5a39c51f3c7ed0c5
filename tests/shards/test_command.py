"""`bpelab encode-files` and `bpelab verify`, as a user runs them."""

import json

import pytest

from bpelab.cli.main import main
from bpelab.shards import open_shards

from .corpora import write


@pytest.fixture
def run(capsys, tmp_path, tokenizer, monkeypatch):
    tokenizer.save(tmp_path / "tok")
    monkeypatch.chdir(tmp_path)

    def run(*words):
        code = main([*words, "--tokenizer", "tok"])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_there_and_verified(run, tmp_path, tokenizer):
    (tmp_path / "a.txt").write_text("one\n\ntwo words\n\n")
    (tmp_path / "b.md").write_text("three")
    words = ["encode-files", "a.txt", "*.md", "--input-format", "text", "--out", "out", "--separator", r"\n\n"]
    code, out, err = run(*words, "--end-of-document", "<|endoftext|>")
    shards = open_shards("out")
    assert (code, err) == (0, "")
    assert out == f"out: {len(shards):,} tokens (uint16) of 3 documents in 1 shard\n"
    ids = [tokenizer.encode(text + "<|endoftext|>", allowed_special="all") for text in ("one", "two words", "three")]
    assert [shards.document(number).tolist() for number in range(3)] == ids
    assert run("verify", "out")[:2] == (0, "out: 1 shard, as written\n")
    compared = "out: 1 shard, as written, and what the inputs encode to\n"
    assert run("verify", "out", "--against")[:2] == (0, compared)
    assert run("verify", "out", "--against", "a.txt", "b.md")[:2] == (0, compared)
    (tmp_path / "b.md").write_text("four")
    code, out, err = run("verify", "out", "--against")
    assert (code, out) == (1, "")
    assert err.startswith("bpelab: out: document 2 is not what the inputs encode to (document 0 of b.md; both")
    assert err.count("\n") == 1


def test_json_and_options(run, tmp_path):
    write(tmp_path / "a.jsonl.gz", ["<|other|>", "b"], "content")
    words = ["encode-files", "a.jsonl.gz", "--out", "out", "--field", "content", "--special", "--eos", "--json"]
    code, out, _ = run(*words, "--shard-tokens", "3", "--shard-format", "bin", "--dtype", "uint32", "--threads", "1")
    assert code == 0
    assert json.loads(out) == {"out": "out", "shards": 2, "tokens": 4, "documents": 2, "dtype": "uint32"}
    assert (tmp_path / "out" / "shard-00001.bin").stat().st_size == 4
    assert json.loads(run("verify", "out", "--json")[1]) == {"folder": "out", "tokens": 4, "compared": False}


def test_what_is_wrong_is_said_in_a_line(run, tmp_path):
    (tmp_path / "a.jsonl").write_text("{}")
    (tmp_path / "a.txt").write_text("a")
    for words, said in (
        (["encode-files", "a.jsonl", "--out", "out"], "a.jsonl: line 1: there is no field 'text'; it has none"),
        (["encode-files", "a.txt", "--out", "o2", "--separator", r"\x"], r": \x is not one of \n, \r, \t, \\"),
        (
            ["encode-files", "a.txt", "--out", "o3", "--end-of-document", "<e>"],
            "is not a special token of this",
        ),
        (["verify", "out"], "isn't finished: 0 shards are there"),
        (["verify", "none"], "holds no index.json"),
    ):
        code, out, err = run(*words)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert err.startswith("bpelab: ")
        assert said in err
