"""tools/javascript_peers: the package's README shows the record, and libraries that misbehave are left out."""

import json
import re
import shutil

import pytest

from bpelab.bench.texts import Text
from bpelab.bench.vocabularies import prepare
from bpelab.notebook import book_text
from tools.javascript_peers import measure, processes, record as records

from .conftest import ROOT
from .native.javascript import PACKAGE, node

PINNED = json.loads((processes.HERE / "package.json").read_text("utf-8"))["dependencies"]


@pytest.fixture
def record():
    return json.loads(records.RECORD.read_text("utf-8"))


def test_readme_shows_the_record(record):
    (shown,) = records.PLACE.findall(records.README.read_text("utf-8"))
    assert shown == records.tables(record)


def test_no_other_number_of_speed_stands_in_readme():
    text = records.PLACE.sub("", records.README.read_text("utf-8"))
    assert not re.search(r"\d\s?(ms|MB/s|µs)\b|\d times|\dx\b", text)


def test_the_record_is_of_the_pinned_versions(record):
    assert {name: one["version"] for name, one in record["libraries"].items() if name != records.OURS} == PINNED
    rows = {(sample["encoding"], sample["row"]) for sample in record["samples"] if sample["library"] == records.OURS}
    everything = {(sample["encoding"], sample["row"]) for sample in record["samples"]}
    assert rows == everything and {encoding for encoding, _ in rows} == {"cl100k_base", "o200k_base"}
    assert not [fault for fault in record["left_out"] if fault["library"] == records.OURS]


def test_versions_are_exact():
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in PINNED.values())
    named = re.findall(r'^    name: "(.*)",$', (processes.HERE / "peers.mjs").read_text("utf-8"), re.MULTILINE)
    assert set(named) == {*PINNED, records.OURS}


@pytest.fixture
def installed(tmp_path):
    """A folder with libraries that misbehave, as if npm had installed them."""
    node()
    shutil.copy(processes.HERE / "worker.mjs", tmp_path)
    shutil.copy(ROOT / "tests" / "bad_peers.mjs", tmp_path / "peers.mjs")
    for name in ("half", "wrong", "stuck", "ends", "refuses"):
        (tmp_path / "node_modules" / name).mkdir(parents=True)
        (tmp_path / "node_modules" / name / "package.json").write_text('{"version": "1.2.3"}')
    return tmp_path


@pytest.mark.slow
def test_libraries_that_misbehave_are_left_out(installed, tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "SPLITS", {"lines": measure.SPLITS["lines"]})
    monkeypatch.setattr(measure, "BAD_TEXTS", ("one letter",))
    plan = measure.Plan(rounds=2, part=10_000, warm_up=0, seconds=60, bad_seconds=1)
    peers = processes.peers(installed, PACKAGE)
    assert [(peer.name, peer.part) for peer in peers][:2] == [("bpelab", 1), ("half", 2)]
    texts = [Text("book", "the book", book_text()[:40_000])]
    work = tmp_path / "work"
    work.mkdir()
    run = measure.Run(installed, PACKAGE, work, peers, plan)
    empty = records.new_record(run, texts)
    run.measure(prepare("trained", work), texts)
    why = {(fault["row"], fault["library"]): fault["why"] for fault in run.left_out}
    assert why == {
        ("load", "refuses"): "RangeError: no such encoding",
        ("book, lines", "refuses"): "RangeError: no such encoding",
        ("book, lines", "wrong"): "other ids",
        ("book", "refuses"): "RangeError: no such encoding",
        ("book", "wrong"): "other ids",
        ("one letter", "refuses"): "RangeError: no such encoding",
        ("one letter", "wrong"): "other ids",
        ("one letter", "stuck"): "took more than 1 s",
        ("one letter", "ends"): "broke off",
    }
    assert {len(times) for (_, row, _), times in run.samples.items() if row != "one letter"} == {2}
    ours, half = (run.samples["trained", "book", name][0]["bytes"] for name in ("bpelab", "half"))
    assert 0.4 < half / ours < 0.6
    shown = records.tables(records.finish(empty, run))
    (row,) = (line for line in shown.splitlines() if line.startswith("| 0.01 MB of one letter"))
    assert [cell.strip() for cell in row.split("|")][4:8] == ["other ids", "> 1 s", "fails", "fails"]


def test_what_to_do_without_npm(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(processes.Missing, match=r"install Node\.js 20 or newer"):
        processes.install(tmp_path)


def test_what_npm_says_is_passed_on(tmp_path, monkeypatch):
    """The next run tries again."""
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(npm))
    with pytest.raises(processes.Missing, match=r"needs a network, once:\nno network"):
        processes.install(tmp_path / "folder")
    assert not (tmp_path / "folder" / "package.json").exists()
