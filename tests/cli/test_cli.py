"""The command line, run as a user runs it."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bpelab import BPETokenizer
from bpelab.__main__ import main as start
from bpelab._support import textio
from bpelab.analysis.lossless import sample_lines
from bpelab.chat import count_conversation
from bpelab.cli.main import COMMANDS, build_parser, main
from bpelab.cli.messages import as_cli_message
from bpelab.editing import extend, prune
from bpelab.editing.pruning import count_uses
from bpelab.formats import minbpe
from bpelab.formats.tiktoken_file import save_ranks
from bpelab.notebook import book_text
from bpelab.trainers.superwords import Superwords

from ..conftest import encoding


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    (folder / "book.txt").write_bytes(book_text()[:50_000].encode())
    code = main(
        ["train", str(folder / "book.txt"), "--vocab-size", "600", "--out", str(folder / "tok"), "--special", "<|end|>"]
    )
    assert code == 0
    BPETokenizer.train(book_text()[:50_000], 400, pattern="[a-z]+|.").save(folder / "odd")
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


def test_streams(folder, capsysbinary, monkeypatch):
    tok, text = folder / "tok", "the harbour, 日本<|end|> at last"
    tokenizer = BPETokenizer.from_pretrained(tok)

    def stream(*words, stdin):
        return run(capsysbinary, "stream", *words, "-t", tok, stdin=stdin.encode(), monkeypatch=monkeypatch)

    for words, ids in (((), tokenizer.encode(text)), (("--special",), tokenizer.encode(text, allowed_special="all"))):
        assert list(map(int, stream(*words, stdin=text)[1].split())) == ids
        assert stream("--decode", stdin=str(ids))[1] == text
    lines = stream("--json", stdin=text)[1].splitlines()
    assert [i for line in lines for i in json.loads(line)["ids"]] == tokenizer.encode(text)
    assert json.loads(stream("--decode", "--json", stdin="97")[1]) == {"text": "a"}
    assert stream("--decode", "--unknown", "skip", stdin="97 99999 98")[1] == "ab"
    for words, stdin, message in (
        (("--decode",), "97 x", "ids are integers"),
        (("--decode",), "99999", "no token with the id 99999"),
    ):
        code, _, err = stream(*words, stdin=stdin)
        assert (code, err.count("\n")) == (1, 1)
        assert message in err
    code, _, err = run(capsysbinary, "stream", "-t", tok, stdin=b"a\xff", monkeypatch=monkeypatch)
    assert code == 1
    assert "not UTF-8" in err


def test_a_stream_answers_before_its_input_ends(folder):
    program = [sys.executable, "-m", "bpelab", "stream", "-t", str(folder / "tok")]
    with subprocess.Popen([*program, "--decode"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        for sent, shown in ((b"97 226 13", b"a"), (b"0 172 98 ", "€b".encode())):
            child.stdin.write(sent)
            child.stdin.flush()
            assert child.stdout.read(len(shown)) == shown
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdin.write(b"a b")
        child.stdin.flush()
        assert child.stdout.readline() == b"97\n"


def test_standard_input_and_files(folder, capsysbinary, monkeypatch):
    tok, text = folder / "tok", book_text()[:50_000]
    expected = f"{BPETokenizer.from_pretrained(tok).count_tokens(text)}\n"
    assert run(capsysbinary, "count", "-t", tok, stdin=text.encode(), monkeypatch=monkeypatch)[1] == expected
    assert run(capsysbinary, "count", "-", "-t", tok, stdin=text.encode(), monkeypatch=monkeypatch)[1] == expected
    assert run(capsysbinary, "count", "--file", folder / "book.txt", "-t", tok)[1] == expected


def test_the_name_of_a_file_is_no_text(folder, capsysbinary, monkeypatch):
    """What the file holds was meant, and numbers of the name would pass for it."""
    monkeypatch.chdir(folder)
    tokenizer, name = BPETokenizer.from_pretrained("tok"), "book.txt"
    for command, shown in (
        ("count", tokenizer.count_tokens(name)),
        ("encode", " ".join(map(str, tokenizer.encode(name)))),
    ):
        for text in (name, folder / name):
            code, out, err = run(capsysbinary, command, text, "-t", "tok")
            assert (code, out) == (1, "") and "is the name of a file: --file reads its content, --text" in err
        assert run(capsysbinary, command, "--text", name, "-t", "tok") == (0, f"{shown}\n", "")
        stdin = {"stdin": name.encode(), "monkeypatch": monkeypatch}
        assert run(capsysbinary, command, "-t", "tok", **stdin) == (0, f"{shown}\n", "")
        assert run(capsysbinary, command, "tok", "-t", "tok")[0] == 0  # a folder holds no text
        for words in (("a", "--text", "b"), ("--file", name, "--text", "b"), ("a", "--file", name)):
            assert "give only one of" in run(capsysbinary, command, *words, "-t", "tok")[2]
    assert "leave out the text" in run(capsysbinary, "count", "--text", "a", "--chat", name)[2]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")
def test_too_little_memory_is_one_line(folder, tmp_path):
    """For a text that is read whole, and for a tokenizer's file of the most bytes that are read."""
    text, file = tmp_path / "text.txt", tmp_path / "tokenizer.json"
    for path, size in ((text, 1 << 30), (file, 1 << 28)):
        with path.open("wb") as out:
            out.truncate(size)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2)"
    command = [sys.executable, "-c", f"{limit}; from bpelab.cli.main import main; raise SystemExit(main())"]
    for words, said in (
        (
            ["encode", "--file", text, "-t", folder / "tok"],
            "bpelab: there is not enough memory for this; `bpelab stream`",
        ),
        (["info", file], f"bpelab: {file}: asks for more memory than there is"),
    ):
        done = subprocess.run([*command, *map(str, words)], check=False, capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr.startswith(said) and done.stderr.count("\n") == 1, done
    with file.open("ab") as out:
        out.truncate((1 << 28) + 1)
    done = subprocess.run([*command, "info", str(file)], check=False, capture_output=True, text=True)
    assert done.stderr == f"bpelab: {file}: is too large: at most 268,435,456 bytes are read\n"


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_a_file_is_counted_in_blocks(folder, tmp_path, capsysbinary, monkeypatch, block):
    """As the whole text is, wherever blocks end, special tokens and limits included."""
    tok, file, text = folder / "tok", tmp_path / "text.txt", "die Häfen, 港 und 🙂<|end|> low\r\n" * 20
    file.write_bytes(text.encode())
    monkeypatch.setattr(textio, "BLOCK", block)
    tokenizer = BPETokenizer.from_pretrained(tok)
    for words, special in (((), ()), (("--special",), "all")):
        count = tokenizer.count_tokens(text, allowed_special=special)
        assert run(capsysbinary, "count", "--file", file, *words, "-t", tok)[1] == f"{count}\n"
        for limit, code, said in ((count - 1, 1, f"more than {count - 1}"), (count, 0, str(count))):
            shown = run(capsysbinary, "count", "--file", file, *words, "--limit", limit, "-t", tok)
            assert shown[:2] == (code, f"{said}\n")
    file.write_bytes("abä".encode() + b"\xff")
    shown = run(capsysbinary, "count", "--file", file, "-t", tok)
    assert "text.txt is not UTF-8: invalid start byte at byte 4" in shown[2]


class Endless(io.RawIOBase):
    """A text without an end, of which nobody may read more than some megabytes."""

    size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        self.size += len(buffer)
        assert self.size < 1 << 23, "read on"
        buffer[:] = (b"low " * len(buffer))[: len(buffer)]
        return len(buffer)


def test_counting_stops_at_the_limit(folder, capsysbinary, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    assert run(capsysbinary, "count", "--limit", 9, "-t", folder / "tok")[:2] == (1, "more than 9\n")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does it")
def test_little_memory(folder, tmp_path):
    """Files are read in parts where that can be; else a line says what to do."""
    file = tmp_path / "long.txt"
    file.write_bytes((b"low and lower " * 75_000)[: 1 << 20] * 150)
    program = """
import resource, sys
from bpelab.cli.main import main
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 100_000_000,) * 2)
sys.exit(main(sys.argv[1:]))
"""
    words = [sys.executable, "-c", program, "encode", "--file", file, "-t", folder / "tok"]
    done = [subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)]
    words[3] = "count"
    done.append(subprocess.run(words, capture_output=True, text=True, check=False, timeout=300))
    assert (done[0].returncode, done[0].stdout, done[0].stderr.count("\n")) == (1, "", 1), done
    assert "not enough memory" in done[0].stderr
    assert (done[1].returncode, done[1].stderr) == (0, "") and int(done[1].stdout) > 1 << 24


def test_training_from_standard_input(folder, tmp_path, capsysbinary, monkeypatch):
    data = (folder / "book.txt").read_bytes()
    words = ["train", "--vocab-size", "600", "--out", tmp_path / "t", "--special", "<|end|>", "--quiet"]
    code, out, err = run(capsysbinary, *words, stdin=data, monkeypatch=monkeypatch)
    assert (code, out, err) == (0, "", "")
    assert (tmp_path / "t" / "tokenizer.json").read_bytes() == (folder / "tok" / "tokenizer.json").read_bytes()


def test_extending_and_pruning(folder, tmp_path, capsysbinary, monkeypatch):
    """There and back: the file says what it did at the beginning."""
    more, unseen, out = tmp_path / "more.txt", tmp_path / "unseen.txt", tmp_path / "more"
    more.write_bytes(book_text()[50_000:80_000].encode())
    unseen.write_bytes(book_text()[80_000:90_000].encode())
    tok = folder / "tok"
    words = ["extend", tok, "--corpus", more, "--add", 50, "--out", out, "--text", unseen]
    code, shown, err = run(capsysbinary, *words)
    old, new = BPETokenizer.from_pretrained(tok), BPETokenizer.from_pretrained(out)
    assert (code, err) == (0, "") and "650 tokens, 50 of them new, from id 600" in shown
    text = unseen.read_text(encoding="utf-8")
    before, after = (each.count_tokens(text) / len(text.encode()) for each in (old, new))
    assert f"{before:.4f} before, {after:.4f} after, {after / before - 1:+.1%}" in shown
    summary = json.loads(run(capsysbinary, *words, "--json")[1])
    assert summary["added"] == 50 and summary["tokens_per_byte"] == {"before": before, "after": after}

    known, rest = (more.read_text(encoding="utf-8")[part] for part in (slice(27_000), slice(27_000, None)))
    known, rest = known[: known.rfind("\n") + 1], known[known.rfind("\n") + 1 :] + rest  # it is cut where a line ends
    code, shown, _ = run(capsysbinary, *words[:-2], "--json")
    held_out = json.loads(shown)["tokens_per_byte"]["after"]
    longer = extend(old, [known], 50)
    assert held_out == pytest.approx(longer.count_tokens(rest) / len(rest.encode()))
    assert BPETokenizer.from_pretrained(out).model == longer.model
    assert run(capsysbinary, *words, "--quiet")[0] == 0

    back, ids = tmp_path / "back", tmp_path / "ids.json"
    removed = [str(i) for i in range(600, 650)]
    assert run(capsysbinary, "prune", out, "--remove", *removed, "--out", back, "--ids", ids, "--quiet")[0] == 0
    files = [json.loads((each / "tokenizer.json").read_text(encoding="utf-8")) for each in (back, tok)]
    assert files[0] == files[1]
    written = json.loads(ids.read_text())
    assert written["ids"] == {str(i): i for i in range(600)} and sorted(written["removed"]) == list(range(600, 650))
    expected = prune(new, corpus=more, keep=500)
    summary = json.loads(run(capsysbinary, "prune", out, "--corpus", more, "--keep", 500, "--out", back, "--json")[1])
    uses = count_uses(new.spec, more)
    assert summary["unused"] == sum(not uses[token] for token in expected.removed) > 0
    assert prune(new, uses=uses, keep=500) == expected
    assert summary["removed"] == 150 and BPETokenizer.from_pretrained(back).model == expected.tokenizer.model
    given = ["--corpus", "-", "--min-frequency", 1, "--out", back]
    code, shown, _ = run(capsysbinary, "prune", out, *given, stdin=more.read_bytes(), monkeypatch=monkeypatch)
    used = prune(new, corpus=more, min_frequency=1).tokenizer
    assert code == 0 and BPETokenizer.from_pretrained(back).model == used.model
    assert "--text FILE names a text" in shown and "of which the corpus never uses" in shown
    assert run(capsysbinary, "prune", out, "--unreachable", "--out", back)[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["extend", "TOK", "--corpus", "BOOK", "--add", "0"], "--add must be at least 1"),
        (["extend", "TOK", "--corpus", "nothing.txt"], "nothing.txt can't be read"),
        (["extend", "TOK", "--corpus", "BOOK", "-"], "alone for standard input"),
        (["extend", "--corpus", "BOOK"], "no tokenizer was named"),
        (["prune", "TOK", "--min-frequency", "1"], "--min-frequency is how often a corpus uses a token"),
        (["prune", "TOK", "--keep", "9000"], "--keep 9,000, but the tokenizer has 600 tokens"),
        (["prune", "TOK", "--remove", "a"], "can't go: text with this byte could not be encoded"),
        (["prune", "TOK", "--remove", "zzzz"], "no such token"),
        (["prune", "TOK", "--unreachable", "--corpus", "BOOK"], "leave it out"),
    ],
)
def test_what_extend_and_prune_refuse(folder, tmp_path, capsysbinary, words, message):
    names = {"TOK": folder / "tok", "BOOK": folder / "book.txt"}
    code, out, err = run(capsysbinary, *(names.get(word, word) for word in words), "--out", tmp_path / "out")
    assert (code, out) == (1, "") and message in err, err
    assert not (tmp_path / "out").exists()


def test_training_with_superwords(folder, tmp_path, capsysbinary):
    words = ["train", folder / "book.txt", "--vocab-size", "600", "--out", tmp_path / "t", "--quiet"]
    given = ["--superwords", "superbpe", "--transition", "0.5", "--max-words", "0", "--max-memory", "64M"]
    assert run(capsysbinary, *words, *given) == (0, "", "")
    expected = BPETokenizer.train(
        folder / "book.txt", 600, superwords=Superwords("superbpe", transition=0.5, max_words=None)
    )
    learned = BPETokenizer.from_pretrained(tmp_path / "t")
    assert learned.get_vocab() == expected.get_vocab() and learned.pattern == "superbpe"
    for more, message in (
        (["--transition", "0.5"], "--transition is for --superwords, which is missing"),
        (
            ["--superwords", "superbp"],
            "--superwords: superwords are learned by superbpe or boundless, not 'superbp': did",
        ),
        (["--superwords", "superbpe", "--transition", "half"], "--superwords: "),
        (["--superwords", "superbpe", "--ties", "cs336"], "leave out --ties"),
        (["--max-memory", "1K"], "from 1,048,576 up, not 1,024"),
    ):
        code, out, err = run(capsysbinary, *words, *more)
        assert (code, out) == (1, "") and message in err, err


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
    minbpe.save(tokenizer.spec, tmp_path / "m.model")
    save_ranks(tokenizer.spec, tmp_path / "r.tiktoken")
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
        (["encode", "x", "-t", "{0}/nothing"], "nothing: there is no such file or folder"),
        (["encode", "x", "-t", "{0}"], "has no tokenizer.json, no vocab.json"),
        (["encode", "x", "--file", "{0}/book.txt", "-t", "{0}/tok"], "give only one of"),
        (["encode", "--file", "{0}/none.txt", "-t", "{0}/tok"], "none.txt: there is no such file"),
        (["count", "--file", "{0}", "-t", "{0}/tok"], "is a folder; name the texts in it one by one"),
        (["publish", "{0}/tok", "{0}/x", "--text", "{0}/none.txt"], "none.txt: there is no such file"),
        (["bench", "--show", "{0}/none.json"], "none.json: there is no such file"),
        (["encode", "x", "--encoder", "fast", "-t", "{0}/tok"], "there is no encoder"),
        (["decode", "99999", "-t", "{0}/tok"], "no token with the id 99999"),
        (["decode", "abc", "-t", "{0}/tok"], "ids are integers"),
        (["train", "{0}/none.txt", "--vocab-size", "300", "--out", "{0}/x"], "none.txt can't be read"),
        (["train", "{0}/book.txt", "--vocab-size", "3", "--out", "{0}/x"], "bpelab: --vocab-size 3 is too small"),
        (["train", "{0}/book.txt", "--vocab-size", "300", "--min-frequency", "0", "--out", "{0}/x"], "--min-frequency"),
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


def test_training_on_records(folder, tmp_path, capsysbinary, monkeypatch):
    """What a file holds is told by its name or an option, on one machine as on many."""
    documents = ["ab ab", " ab", "abc "]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in documents))
    (tmp_path / "b.lines").write_text("".join(json.dumps({"body": text}) + "\n" for text in documents))
    expected = BPETokenizer.train(documents, 258).get_vocab()
    for words in (["a.jsonl"], ["b.lines", "--input-format", "jsonl", "--field", "body"]):
        monkeypatch.chdir(tmp_path)
        assert run(capsysbinary, "train", *words, "--vocab-size", "258", "--out", "t", "--quiet")[0] == 0
        assert BPETokenizer.from_pretrained(tmp_path / "t").get_vocab() == expected
    assert BPETokenizer.train(tmp_path / "a.jsonl", 258, input_format="text").get_vocab() != expected
    for words in (["--input-format", "jsonl"], ["--field", "body"]):
        code, out, err = run(capsysbinary, "train", *words, "--vocab-size", "258", "--out", tmp_path / "x")
        assert (code, out, err) == (1, "", "bpelab: --input-format and --field are for files; standard input is text\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "{0}/book.txt"], "book.txt is a file; --out is the folder to write"),
        (["--out", "{0}/book.txt/x"], "book.txt/x can't be written: Not a directory"),
        (["--out", "{0}/link/x"], "link/x can't be written: No such file"),
        (["--pattern", r"\w*"], "can match nothing, where Hugging Face's engine cuts"),
        (["--special", "a"], "is an ordinary token already"),
        (["http://127.0.0.1:1/x.txt"], "http://127.0.0.1:1/x.txt is an address, which only --dask reads"),
        (["--trainer", "distributed"], "there is no trainer 'distributed'"),
        (["--ties", "cs336", "--dask"], "which a cluster loses"),
        (["none.txt", "--dask", "--input-format", "csv"], "csv"),
        (["--input-format", "csv"], "--input-format is one of text, text.gz,"),
        (["--min-pre-token-frequency", "0"], "--min-pre-token-frequency must be at least 1, not 0"),
    ],
)
def test_what_would_fail_in_the_end_is_found_before_training(
    words, message, folder, tmp_path, capsysbinary, monkeypatch
):
    monkeypatch.setattr("bpelab.trainers.counting.local.count_pre_tokens", None)
    monkeypatch.setattr("bpelab.trainers.counting.local.count_native", None)
    (tmp_path / "book.txt").write_text("a b a b")
    (tmp_path / "link").symlink_to("nothing")
    before = sorted(tmp_path.iterdir())
    words = ["train", "{0}/book.txt", *words, "--vocab-size", "300", *(() if "--out" in words else ("--out", "{0}/x"))]
    code, out, err = run(capsysbinary, *(word.format(tmp_path) for word in words))
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert message in err
    assert sorted(tmp_path.iterdir()) == before


def test_what_was_trained_is_kept_where_it_cannot_be_saved(folder, tmp_path, capsysbinary, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "out" / "tokenizer.json").mkdir(parents=True)
    words = ["train", folder / "book.txt", "--vocab-size", "600", "--special", "<|end|>", "--out", tmp_path / "out"]
    code, out, err = run(capsysbinary, *words)
    assert (code, out, err.count("\n")) == (1, "", 1)
    kept = Path(err.strip().rpartition(" ")[2])
    assert kept.parent == tmp_path
    assert (kept / "tokenizer.json").read_bytes() == (folder / "tok" / "tokenizer.json").read_bytes()


def test_rare_pre_tokens(folder, tmp_path, capsysbinary):
    words = ["train", folder / "book.txt", "--vocab-size", "500", "--out", tmp_path / "t"]
    assert run(capsysbinary, *words, "--min-pre-token-frequency", "3")[0] == 0
    expected = BPETokenizer.train(folder / "book.txt", 500, min_pre_token_frequency=3)
    assert BPETokenizer.from_pretrained(tmp_path / "t").get_vocab() == expected.get_vocab()
    assert expected.get_vocab() != BPETokenizer.train(folder / "book.txt", 500).get_vocab()


@pytest.mark.filterwarnings("default")
def test_a_warning_is_a_plain_line(tmp_path, capsysbinary):
    (tmp_path / "a.txt").write_text("ab ab")
    code, _, err = run(capsysbinary, "train", tmp_path / "a.txt", "--vocab-size", "999", "--out", tmp_path / "t")
    assert code == 0
    said = "training stopped at 257 tokens instead of 999: no pair of tokens is left that occurs at least 2 times"
    assert err == f"bpelab: {said}\n"


@pytest.mark.parametrize("command", ["train", "encode-files"])
def test_dask_stands_alone_and_swallows_no_file(command, capsys):
    if command == "encode-files":  # with GPT-4's vocabulary, unless told otherwise
        encoding("cl100k_base")
    words = [command, "--out", "o", *(("--vocab-size", "300") if command == "train" else ())]
    for dask, address in (([], "local"), (["local"], "local"), (["tcp://[::1]:8786"], "tcp://[::1]:8786")):
        assert build_parser().parse_args([*words, "a.txt", "--dask", *dask]).dask == address
    assert build_parser().parse_args([*words, "a.txt"]).dask is None
    for name in ("a.txt", "s3://bucket/a.txt", "http://host:80/a.txt", "C:\\a.txt"):
        with pytest.raises(SystemExit) as stopped:
            main([*words, "--dask", name, "b.txt"])
        assert stopped.value.code == 2
        assert "put files before --dask, or write --dask local" in capsys.readouterr().err
    assert build_parser().parse_args([*words, "a.txt", "--dask", "--worker-timeout", "90"]).worker_timeout == 90
    for seconds in ("-1", "nan", "soon"):
        with pytest.raises(SystemExit) as stopped:
            main([*words, "none.txt", "--dask", "--worker-timeout", seconds])
        assert stopped.value.code == 2
        assert f"{seconds!r} is not a number of seconds, 0 or more" in capsys.readouterr().err
    assert main([*words, "none.txt", "--worker-timeout", "90"]) == 1
    assert "--worker-timeout" in capsys.readouterr().err


def test_messages_name_options(folder, tmp_path, capsysbinary):
    (tmp_path / "bad.txt").write_bytes(b"a\xff")
    (tmp_path / "a.txt").write_text("a")
    tok = ["-t", folder / "tok"]
    for words, said in (
        (["decode", "99999"], "Pass --unknown replace or --unknown skip to decode the rest."),
        (
            ["encode-files", tmp_path / "bad.txt", "--out", tmp_path / "o"],
            "or encode it with --errors replace, as U+FFFD",
        ),
        (
            ["encode-files", tmp_path / "a.txt", "--out", tmp_path / "o", "--eos"],
            "in --end-of-document '<|endoftext|>'",
        ),
    ):
        code, out, err = run(capsysbinary, *words, *tok)
        assert (code, out) == (1, "") and said in err


def test_what_is_no_argument_stays_as_it_is():
    parser = build_parser().parse_args(["encode-files", "a", "--out", "o"]).parser
    for message in (
        "s3://b/field=en/a.txt: can't be read",
        "field=en/a.txt: can't be read",
        "there is no field 'shard_tokens'",
        "shard_tokens.txt is not UTF-8",
        "errors",
        "truncation=True is needed",
    ):
        assert as_cli_message(message, parser) == message


def test_input_that_is_no_text(folder, capsysbinary, monkeypatch):
    code, _, err = run(capsysbinary, "count", "-t", folder / "tok", stdin=b"a\xff", monkeypatch=monkeypatch)
    assert code == 1
    assert "standard input is not UTF-8" in err


@pytest.mark.parametrize("words", [["nonsense"], ["train"], ["count", "--limit", "x"]])
def test_bad_usage_is_code_2(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    ([a-z-]+) ", capsys.readouterr().out, re.MULTILINE)
    assert len(commands) > 14
    for name in commands:
        with pytest.raises(SystemExit):
            main([name, "--help"])
        assert f"bpelab {name}" in capsys.readouterr().out.partition("examples:")[2], name


def test_alone_it_shows_the_help(capsys):
    assert main([]) == 0
    assert "examples:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["cout", "x"], "count"),
        (["tokenize", "x"], "encode"),
        (["detokenize", "5"], "decode"),
        (["encode", "x", "--tokeniser", "gpt2"], "--tokenizer"),
        (["convert", "a", "b", "--to", "ggfu"], "gguf"),
        (["decode", "--unknown", "skp"], "skip"),
    ],
)
def test_what_may_have_been_meant(words, meant, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert f"did you mean {meant}?" in capsys.readouterr().err


def test_the_case_of_a_name_is_no_reason_to_name_none(capsys):
    pytest.importorskip("tiktoken")
    assert main(["count", "low", "-t", "GPT2"]) == 1
    assert "nor the name of a tiktoken encoding: did you mean gpt2?" in capsys.readouterr().err


def test_roles(folder, tmp_path, capsysbinary):
    """A role is a special token; transformers finds it in what is trained, converted and published."""
    transformers = pytest.importorskip("transformers")
    words = ["--vocab-size", 600, "--special", "<|x|>", "--eos", "<|end|>", "--pad", "<|pad|>", "--json"]
    code, out, _ = run(capsysbinary, "train", folder / "book.txt", "--out", tmp_path / "t", *words)
    assert code == 0
    assert json.loads(out)["special_tokens"] == {"<|x|>": 597, "<|end|>": 598, "<|pad|>": 599}
    shown = run(capsysbinary, "info", tmp_path / "t")[1]
    assert re.search(r"^roles +eos <\|end\|>, pad <\|pad\|>$", shown, re.MULTILINE)
    assert re.search(r"^lossless +yes$", shown, re.MULTILINE)
    words = ["convert", tmp_path / "t", tmp_path / "hf", "--to", "huggingface", "--bos", "<|x|>"]
    assert run(capsysbinary, *words)[0] == 0
    (tmp_path / "unseen.txt").write_text("A text that is not long.\n" * 20, encoding="utf-8")
    words = ["publish", tmp_path / "t", tmp_path / "p", "--text", tmp_path / "unseen.txt", "--bos", "<|x|>"]
    assert run(capsysbinary, *words)[0] == 0
    for name in ("hf", "p"):
        theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / name)
        assert (theirs.bos_token, theirs.eos_token, theirs.pad_token) == ("<|x|>", "<|end|>", "<|pad|>")
    code, _, err = run(capsysbinary, "convert", tmp_path / "t", tmp_path / "no", "--to", "gguf", "--eos", "<|y|>")
    assert code == 1
    assert "is not one of the special tokens" in err


def test_formats_that_a_pattern_rules_out(folder, tmp_path, capsysbinary):
    """Training says them, and converting needs --lossy, and counts lines whose ids are others elsewhere."""
    words = ["train", folder / "book.txt", "--vocab-size", 400, "--out", tmp_path / "t"]
    assert "rules out `bpelab convert --to` gpt2, gguf" in run(capsysbinary, *words)[1]
    assert "rules out" not in run(capsysbinary, *words, "--pattern", "gpt2")[1]
    words = ["convert", folder / "tok", tmp_path / "files", "--to", "gpt2"]
    code, _, err = run(capsysbinary, *words)
    assert code == 1
    assert "--lossy" in err and "pattern" in err and not (tmp_path / "files").exists()
    code, out, _ = run(capsysbinary, *words, "--lossy", "--check-file", folder / "book.txt", "--json")
    differ, lines = json.loads(out)["lines_that_differ"]
    assert code == 0 and 0 < differ <= lines


def test_training_from_a_dash(folder, tmp_path, capsysbinary, monkeypatch):
    data = (folder / "book.txt").read_bytes()
    words = ["train", "-", "--vocab-size", "600", "--out", tmp_path / "t", "--special", "<|end|>", "--quiet"]
    assert run(capsysbinary, *words, stdin=data, monkeypatch=monkeypatch)[0] == 0
    assert (tmp_path / "t" / "tokenizer.json").read_bytes() == (folder / "tok" / "tokenizer.json").read_bytes()


def test_an_empty_name_is_no_folder(folder, capsys):
    for words in (
        ["train", "x", "--vocab-size", "300", "--out", ""],
        ["convert", str(folder / "tok"), "", "--to", "gpt2"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main(words)
        assert stopped.value.code == 2
        assert "an empty name is neither a file nor a folder" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="arguments are bytes on POSIX only")
def test_an_argument_that_is_no_text(folder):
    words = [sys.executable.encode(), b"-m", b"bpelab", b"count", b"caf\xe9", b"-t", os.fsencode(folder / "tok")]
    done = subprocess.run(words, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"not UTF-8: byte 0xe9 at character 3" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a shell that closes standard output")
@pytest.mark.parametrize("words", ["count low", "decode 97"])
def test_a_closed_standard_output_is_a_failure(words, folder):
    program = f'"{sys.executable}" -m bpelab {words} -t "{folder / "tok"}" >&-'
    done = subprocess.run(program, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "standard output can't be written" in done.stderr and done.stderr.count("\n") == 1


def imported_by(*words: str) -> set[str]:
    """The modules that a process of its own has imported when a command has ended."""
    program = f"import sys; sys.argv[1:] = {words!r}; from bpelab.__main__ import main; code = main()"
    program += "; print(*sys.modules, file=sys.stderr); sys.exit(code)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_the_version_is_said_before_anything_is_imported(capsys, monkeypatch):
    ours = {name for name in imported_by("--version") if name.startswith("bpelab.")}
    assert ours == {"bpelab.__main__", "bpelab._support", "bpelab._support.lazy_imports"}
    monkeypatch.setattr(sys, "argv", ["bpelab", "--version"])
    assert start() == 0
    told = capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert (left.value.code, capsys.readouterr().out) == (0, told)


def test_a_command_imports_no_other(folder):
    modules = imported_by("count", "low", "-t", str(folder / "tok"))
    commands = {f"bpelab.cli.{module}" for module in COMMANDS.values()}
    assert modules & commands == {"bpelab.cli.count"}
    assert not modules & {"dask", "asyncio", "multiprocessing", "bpelab.chat", "bpelab.trainers", "bpelab.shards"}


def test_every_command_is_listed_and_is_in_the_module_that_it_is_said_to_be_in(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n    {name} " in listed or f"\n    {name}\n" in listed
        for parser in (build_parser(), build_parser(name)):
            with pytest.raises(SystemExit):
                parser.parse_args([name, "--help"])
            assert f"usage: bpelab {name} " in capsys.readouterr().out
        with pytest.raises(SystemExit) as left:
            main([name, "--no-such-option"])
        assert left.value.code == 2
        assert f"usage: bpelab {name} " in capsys.readouterr().err


def test_ctrl_c_while_it_is_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "bpelab.cli.main", None)
    with pytest.raises(ImportError):
        start()

    class Interrupted:
        def find_spec(self, name, path, target=None):
            if name == "bpelab.cli.main":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "bpelab.cli.main")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    assert start() == 130


def test_a_pipe_that_closes(folder):
    program = f"{sys.executable} -m bpelab info {folder / 'tok'} --show-tokens | head -1"
    done = subprocess.run(program, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


ENDINGS = {"huggingface": "hf", "tiktoken": "t.tiktoken", "minbpe": "m.model", "gpt2": "files", "gguf": "g.gguf"}
NEEDS_A_PATTERN = {"tiktoken", "gpt2"}


@pytest.fixture(scope="module")
def gpt2_folder(tmp_path_factory):
    """A tokenizer that every format can hold."""
    folder = tmp_path_factory.mktemp("convert") / "tok"
    options = {"pattern": "gpt2", "special_tokens": ["<|end|>"], "eos_token": "<|end|>"}
    BPETokenizer.train(book_text()[:50_000], 600, **options).save(folder)
    return folder


@pytest.mark.parametrize("target", ENDINGS)
def test_convert_and_look_at_the_result(target, gpt2_folder, folder, tmp_path, capsysbinary):
    out = tmp_path / ENDINGS[target]
    words = ["convert", gpt2_folder, out, "--to", target, "--check", "the harbour<|end|>"]
    code, text, err = run(capsysbinary, *words, "--check-file", folder / "book.txt")
    assert (code, err) == (0, "")
    lines = text.splitlines()
    size = 599 if target == "tiktoken" else 600
    assert lines[0] == f"{out}: written as {target}, 600 tokens"
    assert lines[-1] == f"  ids equal on 3 texts and on {len(sample_lines())} lines in many scripts"
    assert ("  left out: roles (eos)" in lines) == (target in ("tiktoken", "minbpe"))
    pattern = ["--pattern", "gpt2"] if target in NEEDS_A_PATTERN else []
    info = json.loads(run(capsysbinary, "info", out, "--json", *pattern)[1])
    assert (info["tokens"], info["pattern"], info["initial_symbols"]) == (size, "gpt2", "bytes")
    assert info["special_tokens"] == ({} if target == "tiktoken" else {"<|end|>": 599})
    told = run(capsysbinary, "info", out, *pattern)[1].splitlines()
    assert any(line.split() == ["tokens", str(size)] for line in told)
    assert any(line.split() == ["pattern", "gpt2"] for line in told)
    expected = run(capsysbinary, "encode", "the harbour", "-t", gpt2_folder)[1]
    assert run(capsysbinary, "encode", "the harbour", "-t", out, *pattern)[1] == expected
    # and back
    code, text, _ = run(capsysbinary, "convert", out, tmp_path / "back", "--to", "huggingface", "--json", *pattern)
    assert code == 0
    told = json.loads(text)
    checked = {"texts_checked": 1, "lines_checked": len(sample_lines())}
    assert told == {"out": str(tmp_path / "back"), "to": "huggingface", "left_out": [], **checked}
    assert run(capsysbinary, "encode", "the harbour", "-t", tmp_path / "back")[1] == expected


def test_info_of_a_sentencepiece_model(tmp_path, capsysbinary):
    spm = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    lines = iter(book_text()[:50_000].split("\n"))
    options = {"model_type": "bpe", "vocab_size": 800, "byte_fallback": True, "minloglevel": 2}
    spm.SentencePieceTrainer.train(sentence_iterator=lines, model_writer=out, **options)
    (tmp_path / "tokenizer.model").write_bytes(out.getvalue())
    for what in (tmp_path, tmp_path / "tokenizer.model"):
        info = json.loads(run(capsysbinary, "info", what, "--json")[1])
        assert (info["tokens"], info["pattern"], info["special_tokens"]) == (
            800,
            None,
            {"<unk>": 0, "<s>": 1, "</s>": 2},
        )
        assert info["initial_symbols"].endswith(" characters") and "SentencePieceNormalizer" in info["normalizer"]
        assert len(json.dumps(info)) < 20_000  # and not the whole character map
    assert "characters" in run(capsysbinary, "info", tmp_path)[1]


def test_what_is_left_out_is_said(tmp_path, capsysbinary):
    tokenizer = BPETokenizer.train(
        book_text()[:20_000], 400, normalizer="NFC", pattern="gpt2", metadata={"chat_template": "x"}
    )
    tokenizer.save(tmp_path / "tok")
    code, out, err = run(capsysbinary, "convert", tmp_path / "tok", tmp_path / "g.gguf", "--to", "gguf")
    assert (code, out) == (1, "") and err.count("\n") == 1
    assert "gguf has no normalizer, and without it ids change" in err and "--lossy" in err
    assert not (tmp_path / "g.gguf").exists()
    code, out, err = run(capsysbinary, "convert", tmp_path / "tok", tmp_path / "g.gguf", "--to", "gguf", "--lossy")
    assert (code, err) == (0, "")
    assert "left out: normalizer (" in out and "which changes ids" in out
    assert "ids not compared: the conversion is lossy" in out
    words = ["convert", tmp_path / "tok", tmp_path / "g.gguf", "--to", "gguf", "--lossy", "--json"]
    told = json.loads(run(capsysbinary, *words)[1])
    assert told["texts_checked"] is None
    assert [(loss["feature"], loss["changes_ids"]) for loss in told["left_out"]] == [("normalizer", True)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["convert", "{0}/none", "{0}/x", "--to", "gguf"], "none: there is no such file or folder"),
        (["convert", "{0}/tok", "{0}/x.json", "--to", "minbpe"], "minbpe's files end in .model"),
        (
            ["convert", "{0}/odd", "{0}/x.gguf", "--to", "gguf"],
            "splits text, [a-z]+|. (none; the nearest is gpt-2, but ",
        ),
        (["convert", "{0}/tok", "{0}/book.txt", "--to", "huggingface"], "is a file"),
        (
            ["convert", "{0}/tok", "{0}/x.model", "--to", "minbpe", "--check-file", "{0}/none.txt"],
            "none.txt: there is no",
        ),
        (["convert", "{0}/tok", "{0}/x.gguf", "--to", "gguf", "--pattern", "gpt2"], "tokenizer.json: already says how"),
        (["info", "{0}/book.txt"], "is not JSON, and isn't named like another tokenizer file"),
    ],
)
def test_conversions_that_fail(words, message, folder, capsysbinary):
    code, out, err = run(capsysbinary, *(word.format(folder) for word in words))
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    (folder / "x.model").unlink(missing_ok=True)
    (folder / "x.vocab").unlink(missing_ok=True)
    assert not (folder / "x").exists() and not (folder / "x.gguf").exists()


def test_the_targets_of_the_command_line_are_those_of_the_library(capsys):
    from bpelab.convert import TARGETS

    assert {*ENDINGS, "tekken"} == set(TARGETS)  # which numbers special tokens first: tests/formats/test_tekken.py
    with pytest.raises(SystemExit):
        main(["convert", "a", "b", "--to", "word"])
    message = capsys.readouterr().err
    assert all(target in message for target in TARGETS)


def test_a_conversation_is_counted(folder, tmp_path, capsysbinary):
    tok = folder / "tok"
    tokenizer = BPETokenizer.from_pretrained(tok)
    messages = [{"role": "user", "content": "the harbour<|end|>"}, {"role": "assistant", "content": "Yes."}]
    jinja = "{% for m in messages %}{{ m.role }}: {{ m.content }}<|end|>{% endfor %}{{ tools }}"
    (tmp_path / "t.jinja").write_text(jinja)
    tool = {"name": "tide", "description": "when the tide comes"}
    for name, content, tools in (
        ("list", messages, None),
        ("object", {"messages": messages, "title": "x"}, None),
        ("tools", {"messages": messages, "tools": [tool]}, [tool]),
    ):
        (tmp_path / name).write_text(json.dumps(content))
        expected = count_conversation(tokenizer, messages, jinja, tools=tools)
        shown = run(capsysbinary, "count", "--chat", tmp_path / name, "--template", tmp_path / "t.jinja", "-t", tok)
        assert shown == (0, f"{expected}\n", "")
        limited = run(
            capsysbinary, "count", "--chat", tmp_path / name, "--template", jinja, "-t", tok, "--limit", expected - 1
        )
        assert limited[:2] == (1, f"more than {expected - 1}\n")
    assert count_conversation(tokenizer, messages, jinja) < count_conversation(tokenizer, messages, jinja, tools=[tool])


@pytest.mark.parametrize(
    "content, problem",
    [
        ("", "is empty"),
        ("[1", "JSON"),
        ('"text"', "is not a JSON object or list"),
        ("{}", 'object with "messages"'),
        ('{"messages": {}}', "messages: expected a list"),
        ('{"messages": [], "tools": 1}', "tools: expected a list"),
        ("[]", "messages is empty"),
        ('[{"content": "hi"}]', 'messages[0] has no "role"'),
        ('[{"role": "user", "content": "hi"}]', "this tokenizer has none of its own"),
    ],
)
def test_a_conversation_that_is_none_is_refused(folder, tmp_path, capsysbinary, content, problem):
    (tmp_path / "c.json").write_text(content)
    code, out, err = run(capsysbinary, "count", "--chat", tmp_path / "c.json", "-t", folder / "tok")
    assert (code, out) == (1, "") and err.count("\n") == 1
    assert problem in err


def test_count_takes_a_text_or_a_conversation(folder, tmp_path, capsysbinary):
    (tmp_path / "c.json").write_text('[{"role": "user", "content": "hi"}]')
    for words in (("a", "--chat", tmp_path / "c.json"), ("a", "--template", "chatml")):
        code, out, err = run(capsysbinary, "count", *words, "-t", folder / "tok")
        assert (code, out) == (1, "") and "--chat" in err


def test_a_named_template_counts_also_where_its_tokens_are_missing(folder, tmp_path, capsysbinary):
    (tmp_path / "c.json").write_text('[{"role": "user", "content": "hi"}]')
    tokenizer = BPETokenizer.from_pretrained(folder / "tok")
    whole = tokenizer.count_tokens("user\nhi") + tokenizer.count_tokens("\n") + 2
    shown = run(capsysbinary, "count", "--chat", tmp_path / "c.json", "--template", "chatml", "-t", folder / "tok")
    assert shown == (0, f"{whole}\n", "")


@pytest.mark.parametrize(
    "words",
    [
        ("info", "-t", "{tok}", "--json"),
        ("convert", "-t", "{tok}", "{out}.gguf", "--to", "minbpe", "--lossy"),
        ("convert", "{out}.model", "--to", "minbpe", "--tokenizer", "{tok}"),
        ("publish", "{out}", "--text", "{text}", "--json", "-t", "{tok}"),
        ("report", "-t", "{tok}", "--text", "{text}", "--out", "{out}.html", "--json"),
        ("encode", "low", "-t", "{tok}"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_one_way_to_name_a_tokenizer(words, folder, tmp_path, capsysbinary):
    (tmp_path / "text.txt").write_text(book_text()[60_000:64_000], encoding="utf-8")
    names = {"tok": folder / "tok", "out": tmp_path / "new", "text": tmp_path / "text.txt"}
    words = [word.format(**names) for word in words]
    code, out, err = run(capsysbinary, *words)
    if ".gguf" in " ".join(words):
        assert (code, "end in .model" in err) == (1, True)  # it was read, and the name of OUT is minbpe's to refuse
        return
    assert (code, err) == (0, "")
    assert out
    if words[0] in ("info", "convert", "publish"):
        code, _, err = run(capsysbinary, words[0], folder / "tok", *words[1:])
        assert code == 1
        assert "a tokenizer was named twice" in err


def test_no_tokenizer_was_named(tmp_path, capsysbinary):
    for words in (("convert", tmp_path / "x", "--to", "gguf"), ("publish", tmp_path / "x", "--text", __file__)):
        code, _, err = run(capsysbinary, *words)
        assert (code, err) == (1, "bpelab: no tokenizer was named: give IN, or -t TOKENIZER\n")
    code, _, err = run(capsysbinary, "report")
    assert (code, err) == (1, "bpelab: no tokenizer was named: give one or several to compare\n")


def test_what_programs_read(folder, tmp_path, capsysbinary):
    """publish and report, as JSON, and without a word."""
    (tmp_path / "text.txt").write_text(book_text()[60_000:64_000], encoding="utf-8")
    code, out, _ = run(
        capsysbinary, "publish", folder / "tok", tmp_path / "new", "--text", tmp_path / "text.txt", "--json"
    )
    said = json.loads(out)
    assert (code, said["out"], said["page"]) == (0, str(tmp_path / "new"), None)
    assert [entry["file"] for entry in said["files"]] == ["tokenizer.json", "new.gguf", "new.tiktoken", "new.model"]
    assert said["files"][0] == {"file": "tokenizer.json", "left_out": [], "refused": None}
    page = tmp_path / "page.html"
    code, out, _ = run(capsysbinary, "report", folder / "tok", "--text", tmp_path / "text.txt", "--out", page, "--json")
    found = json.loads(out)["texts"][str(tmp_path / "text.txt")][str(folder / "tok")]
    ours = BPETokenizer.from_pretrained(folder / "tok").count_tokens(book_text()[60_000:64_000])
    assert (code, found["tokens"]) == (0, ours)
    quiet = run(capsysbinary, "report", folder / "tok", "--text", tmp_path / "text.txt", "--out", page, "--quiet")
    assert quiet == (0, "", "")


def test_the_text_of_the_training_is_not_held_out(folder, tmp_path, capsysbinary):
    code, _, err = run(capsysbinary, "publish", folder / "tok", tmp_path / "new", "--text", folder / "book.txt")
    assert code == 1
    assert "was trained on this text" in err
    assert not (tmp_path / "new").exists()


COMPLETE = """
source "$1"
COMP_WORDS=(bpelab "${@:2}"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
$(complete -p bpelab | sed -E 's/.* -F ([^ ]+) .*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_completion(tmp_path, capsysbinary):
    """The script for bash, asked by bash what Tab would ask it."""
    pytest.importorskip("shtab")
    code, out, err = run(capsysbinary, "completion", "bash")
    assert (code, err) == (0, "")
    (tmp_path / "bpelab.bash").write_text(out, encoding="utf-8")
    if shutil.which("bash") is None:
        pytest.skip("there is no bash to ask")
    for words, expected in (
        (["co"], {"count", "convert", "complete", "completion"}),
        (["count", "--tok"], {"--tokenizer"}),
        (["chat", "--dev"], {"--device"}),
    ):
        asked = subprocess.run(
            ["bash", "-c", COMPLETE, "bash", str(tmp_path / "bpelab.bash"), *words],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert set(asked.stdout.split()) == expected, asked.stderr
    for shell in ("zsh", "tcsh"):
        assert run(capsysbinary, "completion", shell)[0] == 0


def test_completion_without_its_package(monkeypatch, capsysbinary):
    monkeypatch.setitem(sys.modules, "shtab", None)
    code, _, err = run(capsysbinary, "completion", "bash")
    assert code == 1
    assert "shtab is not installed" in err and "completion" in err
