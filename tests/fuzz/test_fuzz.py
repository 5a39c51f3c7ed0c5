"""The corpus of earlier findings, and some fresh inputs; `make soak` runs `python -m tests.fuzz` for ten minutes."""

import json

import pytest

from .__main__ import CORPUS, fuzz
from .properties import OPENER, PROPERTIES, in_time
from .worker import batch


@pytest.fixture(scope="module", autouse=True)
def closed():
    yield
    OPENER.close()


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.json")), ids=lambda path: path.stem)
def test_the_corpus(path):
    entry = json.loads(path.read_text(encoding="utf-8"))
    with in_time():
        PROPERTIES[entry["property"]].check(**entry["input"])


@pytest.mark.slow
def test_fresh_inputs(tmp_path):
    """For a few seconds, from a seed that never changes."""
    tried, found = fuzz(6, 1, tmp_path)
    assert not found, (tmp_path / found[0]).read_text()
    assert all(tried[name] for name in PROPERTIES)


def test_a_finding_is_made_small(monkeypatch):
    """Of a check that refuses every text with a capital, what is left is one letter."""

    def no_capital(text, **rest):
        assert text.lower() == text, "a capital"

    monkeypatch.setitem(PROPERTIES, "encoding", PROPERTIES["encoding"]._replace(check=no_capital))
    count, problem, smallest = batch("encoding", 1, 500, lambda drawn: None)
    assert count > 0
    assert "a capital" in problem
    assert len(smallest["text"]) == 1


def test_a_process_that_ends_is_a_finding(tmp_path, monkeypatch):
    """What it tried is in the corpus then."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "seen = []\n"
        "def stop(event, values):\n"
        "    if event == 'open' and str(values[0]).endswith('now.json'):\n"
        "        seen.append(1)\n"
        "        len(seen) < 3 or os._exit(7)\n"
        "sys.addaudithook(stop)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    _, found = fuzz(0.1, 1, tmp_path)
    assert [name[:25] for name in found] == ["encoding-a-process-1.json"]
    assert json.loads((tmp_path / found[0]).read_text())["found"] == "the process ended"
