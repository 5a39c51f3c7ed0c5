"""Whole runs: with every library that is installed, and with libraries that fail in every way there is."""

import json
from dataclasses import replace

import pytest

from bpelab import BPETokenizer
from bpelab.bench import isolated_measures, runner
from bpelab.bench.driver import Driver
from bpelab.bench.isolated_measures import HELLO
from bpelab.bench.peers import PEERS
from bpelab.bench.plan import Job, Plan, Step
from bpelab.bench.record import Row, new_record, speeds, validate
from bpelab.bench.report import bench_figure, report
from bpelab.bench.texts import Text
from bpelab.cli.main import main
from bpelab.errors import BPELabError
from bpelab.notebook import book_text

from ..conftest import ROOT, amount, encoding
from ..formats.families import families
from .bad_peers import BAD

pytest.importorskip("tiktoken")
TINY = Plan(
    encodings=("trained",),
    rounds=2,
    cold_rounds=1,
    load_rounds=1,
    part=3_000,
    batch=6_000,
    memory=50_000,
    pathological=("one letter", "random letters"),
    pathological_bytes=2_000,
    fresh=(20_000,),
    train=((40_000, 300),),
    superwords=((40_000, 400),),
    seconds=60,
)
TEXTS = [Text("book", "the book", book_text()[:60_000])]


def only(*sections, **other):
    return replace(TINY, sections=sections, **other)


def run(plan, names, tmp_path):
    record = new_record(plan, TEXTS)
    lines = []
    Driver(plan, TEXTS, names, record, tmp_path, lines.append, lambda *_: None).run()
    assert lines
    return json.loads(json.dumps(record))


@pytest.fixture
def bad(monkeypatch):
    """Bad libraries join the good ones, here and in the workers."""
    for name, peer in BAD.items():
        monkeypatch.setitem(PEERS, name, peer)
    monkeypatch.setattr(runner, "WORKER", "tests.bench.bad_peers")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def reasons(record, name):
    return " ".join(entry["why"] for entry in record["left_out"] if entry["library"] == name)


def timed(record, name):
    return {sample["measure"] for sample in record["samples"] if sample["library"] == name}


@pytest.mark.slow
def test_every_installed_library(tmp_path):
    here = [name for name, peer in PEERS.items() if peer.why_unavailable() is None]
    record = run(TINY if amount(0, 1) else only("encode"), here, tmp_path)
    text = report(record)
    loaded = [name for name in here if "load" not in {e["doing"] for e in record["left_out"] if e["library"] == name}]
    assert {"tiktoken", "bpelab (Python)", "naive Python"} <= set(loaded)
    for name in loaded:
        if PEERS[name].supports("list"):
            assert {"cold", "unseen", "again"} <= timed(record, name), name
            assert f"\n{name}" in text
    assert "Encode book, trained" in text
    figure = bench_figure(validate(record))
    assert [axis.get_title() for axis in figure.axes] == ["book, trained"]


@pytest.mark.slow
def test_every_measure(tmp_path):
    for name in ("bpelab", "tokenizers"):
        if why := PEERS[name].why_unavailable():
            pytest.skip(why)
    names = ["tiktoken", "bpelab", "tokenizers"]
    record = run(
        only("calls", "batch", "decode", "load", "memory", "pathological", "train", "superwords"), names, tmp_path
    )
    assert not record["left_out"]
    assert timed(record, "tiktoken") == {
        "calls",
        "lines",
        "documents",
        "batch",
        "decode",
        "load",
        "memory",
        "pathological",
    }
    assert timed(record, "tokenizers") == timed(record, "tiktoken") | {"train"}
    assert timed(record, "bpelab") == timed(record, "tokenizers") | {"superwords"}
    text = report(record)
    for words in (
        "2 threads",
        "load, ms",
        "model, MiB",
        "one letter",
        "Train 0.04 MB to 300 tokens",
        "to 400 tokens, superwords",
        "100.0%",
    ):
        assert words in text
    assert sorted(row.threads for row in speeds(record) if row.measure == "batch") == [1, 1, 2, 2]


@pytest.mark.slow
def test_fresh_processes(tmp_path):
    """With one of tiktoken's own vocabularies, which the programs of all libraries open by name."""
    encoding("cl100k_base")
    names = ["tiktoken", "bpelab"]
    record = run(only("fresh", encodings=("cl100k_base",)), names, tmp_path)
    assert not record["left_out"]
    found = {(s["library"], s["text"]) for s in record["samples"] if s["measure"] == "fresh" and s["cpu"] > 0}
    assert found == {(name, text) for name in names for text in (HELLO, "0.02 MB")}
    assert "A fresh process that imports, loads cl100k_base" in report(record)


def test_programs_of_fresh_processes():
    """What they print, what they take beyond an empty one, and their last words."""
    printed, cpu, wall = isolated_measures.time_program("sum(range(3_000_000)); print(1, 2)")
    assert printed == "1 2"
    assert cpu > 0 and wall > 0
    with pytest.raises(RuntimeError, match="ValueError: no"):
        isolated_measures.time_program("raise ValueError('no')")


def test_a_wrong_id_is_not_timed(bad, tmp_path):
    record = run(only("encode"), ["tiktoken", "bpelab (Python)", "wrong"], tmp_path)
    assert not timed(record, "wrong")
    assert "differs at token 3: [" in reasons(record, "wrong")
    assert {"cold", "unseen", "again"} == timed(record, "bpelab (Python)")
    assert "wrong: differs at token 3" in report(record)


def test_ids_that_change_while_they_are_timed(bad, tmp_path):
    """Beyond the check: whoever gives other ids later loses what was measured in that step."""
    plan = only("encode")
    vocabulary = _prepare(tmp_path)
    driver = Driver(plan, TEXTS, ["tiktoken", "wrong later"], record := new_record(plan, TEXTS), tmp_path, _no, _no)
    text_files = {"book": driver.write_parts(TEXTS[0], 3_000)}
    job = Job(vocabulary, ["tiktoken", "wrong later"], [Step("warm", "book", "list")], text_files, str(tmp_path), 60)
    driver._runner.run(job)
    assert timed(record, "wrong later") == set()
    assert timed(record, "tiktoken") == {"unseen", "again"}
    assert "while it is timed" in reasons(record, "wrong later")


@pytest.mark.slow
def test_libraries_that_fail(bad, tmp_path):
    plan = only("encode", "load", "pathological", seconds=5, pathological_seconds=5, pathological=("one letter",))
    names = ["tiktoken", "panics", "hangs", "crashes", "hoards", "chatters"]
    record = run(plan, names, tmp_path)
    assert timed(record, "tiktoken") == {"cold", "unseen", "again", "load", "pathological"}
    assert timed(record, "chatters") == timed(record, "tiktoken")
    for name, why in {
        "panics": "Panic: called `Option::unwrap()`",
        "hangs": "took more than 5 s",
        "crashes": "crashed with SIGABRT",
        "hoards": "MemoryError",
    }.items():
        assert not timed(record, name)
        assert why in reasons(record, name)
        assert {"check", "load", "pathological"} <= {e["measure"] for e in record["left_out"] if e["library"] == name}
    text = report(record)
    assert "> 5 s" in text
    assert "crash" in text


def test_who_is_not_installed_is_listed(bad, tmp_path):
    record = new_record(TINY, TEXTS)
    assert record["libraries"]["absent"]["obstacle"] == "not installed: pip install no-such-package"
    (line,) = (line for line in report(record).splitlines() if line.startswith("not measured: "))
    assert "absent (not installed: pip install no-such-package)" in line


@pytest.mark.slow
def test_the_command(tmp_path, capsys, monkeypatch):
    book = tmp_path / "book.txt"
    book.write_text(book_text()[:60_000], "utf-8")
    monkeypatch.setattr("bpelab.bench.plan.QUICK", TINY)
    out, picture = tmp_path / "record.json", tmp_path / "figure.svg"
    words = ["bench", "--quick", "--only", "encode", "--libraries", "bpelab (Python)", "--rounds", "1"]
    words += ["--text", f"book={book}", "--json", str(out), "--figure", str(picture)]
    assert main(words) == 0
    shown, _ = capsys.readouterr()
    assert "Encode book, trained" in shown
    record = json.loads(out.read_text("utf-8"))
    assert record["options"]["rounds"] == 1
    assert set(record["libraries"]) == {"tiktoken", "bpelab (Python)"}
    assert record["packages"]["tiktoken"] == record["libraries"]["tiktoken"]["version"]
    assert record["machine"]["cores"] > 0
    assert picture.stat().st_size > 1000
    assert main(["bench", "--show", str(out)]) == 0
    assert capsys.readouterr().out == shown
    for words, why in (
        (["--only", "singing"], "--only knows"),
        (["--libraries", "tiktocken"], "--libraries knows"),
        (["--encoding", "klingon", "--quick"], "no encoding 'klingon'"),
        (["--show", str(book)], "is not a record"),
        (["--json", str(tmp_path / "nowhere" / "x.json")], "not a folder to write to"),
    ):
        assert main(["bench", *words]) == 1
        assert why in capsys.readouterr().err


@pytest.mark.slow
def test_tokenizers_of_ones_own_are_measured_by_their_files(tmp_path, capsys):
    """Superwords among them: what can open the file is compared before it is timed, the rest says why it can't."""
    text = tmp_path / "text.txt"
    text.write_text(f"{book_text()[:50_000]}<eos>{book_text()[50_000:100_000]}", "utf-8")
    for name, superwords in (("mine", "superbpe"), ("words", None)):
        own = BPETokenizer.train(book_text()[100_000:200_000], 700, superwords=superwords, special_tokens=["<eos>"])
        own.save(tmp_path / name)
    home = tmp_path / "words" / "tokenizer.json"
    record = tmp_path / "record.json"
    options = ["--quick", "--only", "encode", "--rounds", "1", "--libraries", "bpelab (Python),tokenizers,gigatoken"]
    given = ["--encoding", f"{tmp_path / 'mine'},{home}", "--text", f"book={text}", "--json", str(record)]
    assert main(["bench", *options, *given]) == 0
    shown = capsys.readouterr().out
    assert "Encode book, mine" in shown and "Encode book, words" in shown
    measured = json.loads(record.read_text("utf-8"))
    assert "text book: without <eos>, special tokens" in measured["notes"]
    timed = {(sample["encoding"], sample["library"]) for sample in measured["samples"]}
    if PEERS["tokenizers"].why_unavailable() is None:
        assert timed >= {(name, peer) for name in ("mine", "words") for peer in ("tokenizers", "bpelab (Python)")}
    assert ("mine", "gigatoken") not in timed
    assert main(["bench", *options, "--encoding", f"{home},{home.parent}"]) == 1
    assert "two of the encodings to measure with are called 'words': rename one" in capsys.readouterr().err


@pytest.mark.slow
def test_a_file_that_tiktoken_cannot_load(tmp_path):
    """Whole texts and lines, in times of tokenizers' speed."""
    pytest.importorskip("tokenizers")
    home = tmp_path / "llama"
    home.mkdir()
    (home / "tokenizer.json").write_text(json.dumps(families()["llama-2"]), "utf-8")
    names = ["tiktoken", "tokenizers", "bpelab (Python)"]
    record = run(only("encode", "calls", encodings=(str(home),)), names, tmp_path)
    assert record["baselines"] == {"llama": "tokenizers"}
    assert "has no normalizer" in reasons(record, "tiktoken")
    for name in names[1:]:
        assert timed(record, name) == {"cold", "unseen", "again", "calls", "lines", "documents"}
    found = speeds(record)[Row("llama", "lines", "book", "list", 1)]
    assert found["tokenizers"].times.median == 1
    text = report(record)
    assert "how many times as fast as tokenizers in the same rounds" in text
    assert "lines, lists" in text


def test_what_is_no_record():
    for wrong in (None, [], {}, {"what": "bpelab bench", "format": 99}):
        with pytest.raises(BPELabError, match="not a record"):
            validate(wrong)
    with pytest.raises(BPELabError, match="no speeds"):
        bench_figure(new_record(TINY, TEXTS))


def _no(*_):
    pass


def _prepare(folder):
    from bpelab.bench.vocabularies import prepare

    return prepare("trained", folder / "vocabularies")
