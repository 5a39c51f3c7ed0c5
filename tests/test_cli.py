"""The command line, run as a user runs it."""

import io
import json
import subprocess
import sys

import pytest

from bpelab import BPETokenizer
from bpelab.cli import main
from bpelab.formats import minbpe
from bpelab.formats.tiktoken import save_ranks
from bpelab.notebook import book_text

from .conftest import encoding


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    (folder / "book.txt").write_bytes(book_text()[:50_000].encode())
    code = main(
        ["train", str(folder / "book.txt"), "--vocab-size", "600", "--out", str(folder / "tok"), "--special", "<|end|>"]
    )
    assert code == 0
    return folder


def run(capsysbinary, *words, stdin: bytes | None = None, monkeypatch=None) -> tuple[int, str, str]:
    if stdin is not None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    code = main(list(map(str, words)))
    out, err = capsysbinary.readouterr()
    return code, out.decode(), err.decode()


def test_there_and_back(folder, capsysbinary, monkeypatch):
    tok = folder / "tok"
    code, out, _ = run(capsysbinary, "encode", "the harbour<|end|>", "-t", tok)
    ids = [int(word) for word in out.split()]
    assert code == 0
    assert ids == BPETokenizer.from_pretrained(tok).encode("the harbour<|end|>")
    assert run(capsysbinary, "decode", *ids, "-t", tok)[1] == "the harbour<|end|>"
    assert (
        run(capsysbinary, "decode", "-t", tok, stdin=str(ids).encode(), monkeypatch=monkeypatch)[1]
        == "the harbour<|end|>"
    )
    assert run(capsysbinary, "count", "the harbour<|end|>", "-t", tok)[1] == f"{len(ids)}\n"
    assert run(capsysbinary, "encode", "<|end|>", "--special", "-t", tok)[1] == "599\n"


def test_standard_input_and_files(folder, capsysbinary, monkeypatch):
    tok, text = folder / "tok", book_text()[:50_000]
    expected = f"{BPETokenizer.from_pretrained(tok).count_tokens(text)}\n"
    assert run(capsysbinary, "count", "-t", tok, stdin=text.encode(), monkeypatch=monkeypatch)[1] == expected
    assert run(capsysbinary, "count", "-", "-t", tok, stdin=text.encode(), monkeypatch=monkeypatch)[1] == expected
    assert run(capsysbinary, "count", "--file", folder / "book.txt", "-t", tok)[1] == expected


def test_training_from_standard_input(folder, tmp_path, capsysbinary, monkeypatch):
    data = (folder / "book.txt").read_bytes()
    words = ["train", "--vocab-size", "600", "--out", tmp_path / "t", "--special", "<|end|>", "--quiet"]
    code, out, err = run(capsysbinary, *words, stdin=data, monkeypatch=monkeypatch)
    assert (code, out, err) == (0, "", "")
    assert (tmp_path / "t" / "tokenizer.json").read_bytes() == (folder / "tok" / "tokenizer.json").read_bytes()


def test_json(folder, capsysbinary):
    tok = folder / "tok"
    shown = json.loads(run(capsysbinary, "encode", "a b", "-t", tok, "--json", "--show-tokens")[1])
    assert shown["count"] == len(shown["ids"]) == len(shown["tokens"])
    assert json.loads(run(capsysbinary, "decode", "97", "-t", tok, "--json")[1]) == {"text": "a"}
    assert json.loads(run(capsysbinary, "count", "a", "-t", tok, "--json")[1]) == {"count": 1, "at_least": False}
    info = json.loads(run(capsysbinary, "info", tok, "--json")[1])
    assert (info["tokens"], info["pattern"], info["special_tokens"]) == (600, "cl100k", {"<|end|>": 599})


def test_show_tokens(folder, capsysbinary):
    out = run(capsysbinary, "encode", "a\n", "-t", folder / "tok", "--show-tokens")[1]
    assert out == "      97  'a'\n      10  '\\\\u000a'\n"
    assert len(run(capsysbinary, "info", folder / "tok", "--show-tokens")[1].splitlines()) == 600


def test_limit(folder, capsysbinary):
    assert run(capsysbinary, "count", "a b c d", "--limit", "2", "-t", folder / "tok")[:2] == (1, "more than 2\n")
    assert run(capsysbinary, "count", "a", "--limit", "2", "-t", folder / "tok")[:2] == (0, "1\n")


def test_other_files(folder, tmp_path, capsysbinary):
    tokenizer = BPETokenizer.from_pretrained(folder / "tok")
    expected = run(capsysbinary, "encode", "the harbour", "-t", folder / "tok")[1]
    minbpe.save(tokenizer, tmp_path / "m.model")
    save_ranks(tokenizer, tmp_path / "r.tiktoken")
    assert run(capsysbinary, "encode", "the harbour", "-t", tmp_path / "m.model")[1] == expected
    assert run(capsysbinary, "encode", "the harbour", "-t", folder / "tok" / "tokenizer.json")[1] == expected
    assert (
        run(capsysbinary, "encode", "the harbour", "-t", tmp_path / "r.tiktoken", "--pattern", "cl100k")[1] == expected
    )
    code, _, err = run(capsysbinary, "encode", "the harbour", "-t", tmp_path / "r.tiktoken")
    assert code == 1
    assert "--pattern cl100k" in err


def test_names(capsysbinary):
    encoding("cl100k_base")
    assert run(capsysbinary, "encode", "hello world")[1] == "15339 1917\n"
    assert "100,277" in run(capsysbinary, "info")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["encode", "x", "-t", "{0}/nothing"], "neither a tokenizer's file or folder nor"),
        (["encode", "x", "-t", "{0}"], "tokenizer.json: can't be read"),
        (["encode", "x", "--file", "{0}/book.txt", "-t", "{0}/tok"], "not both"),
        (["encode", "--file", "{0}/none.txt", "-t", "{0}/tok"], "none.txt"),
        (["encode", "x", "--encoder", "fast", "-t", "{0}/tok"], "there is no encoder"),
        (["decode", "99999", "-t", "{0}/tok"], "no token with the id 99999"),
        (["decode", "abc", "-t", "{0}/tok"], "ids are integers"),
        (["train", "{0}/none.txt", "--vocab-size", "300", "--out", "{0}/x"], "none.txt can't be read"),
        (["train", "{0}/book.txt", "--vocab-size", "3", "--out", "{0}/x"], "vocab_size=3 is too small"),
        (["train", "{0}/book.txt", "--vocab-size", "300", "--pattern", "(", "--out", "{0}/x"], "not closed"),
        (["train", "{0}/book.txt", "--vocab-size", "300", "--out", "{0}/book.txt"], "is a file"),
    ],
)
def test_bad_input_is_one_line_and_code_1(words, message, folder, capsysbinary):
    code, out, err = run(capsysbinary, *(word.format(folder) for word in words))
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (folder / "x").exists()


def test_input_that_is_no_text(folder, capsysbinary, monkeypatch):
    code, _, err = run(capsysbinary, "count", "-t", folder / "tok", stdin=b"a\xff", monkeypatch=monkeypatch)
    assert code == 1
    assert "standard input is not UTF-8" in err


@pytest.mark.parametrize("words", [[], ["nonsense"], ["train"], ["count", "--limit", "x"]])
def test_bad_usage_is_code_2(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "bpelab count" in capsys.readouterr().out


def test_a_pipe_that_closes(folder):
    program = f"{sys.executable} -m bpelab info {folder / 'tok'} --show-tokens | head -1"
    done = subprocess.run(program, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
