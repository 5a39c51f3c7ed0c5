"""The record that *The ids that were never yours* shows: book/templates_record.py writes it, of given templates."""

import json
import re
import subprocess
import sys
import tarfile
from collections import Counter

import pytest

from bpelab.chat import NAMED

from ..backends.conftest import NO_SOURCES, llama_cpp_sources
from ..conftest import ROOT
from .test_notebooks import prose

SCRIPT, RECORD = ROOT / "book" / "templates_record.py", ROOT / "book" / "templates_record.json"
ROWS = json.loads(RECORD.read_text("utf-8"))["templates"]
SAME = ("name", "sha256", "conversations", "preserving", "proved", "place", "reason")


def run_script(folder, *words):
    out = folder / "record.json"
    subprocess.run([sys.executable, str(SCRIPT), *words, "--out", str(out)], check=True, capture_output=True, cwd=ROOT)
    return json.loads(out.read_text("utf-8"))["templates"]


def verdicts(rows):
    return [tuple(row.get(field) for field in SAME) for row in rows]


def test_the_script_writes_the_records_rows_again(tmp_path):
    """Of the templates that bpelab has by name, and of one that forgets its first message."""
    (tmp_path / "forgets.jinja").write_text("{{ messages[-1].content }}")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"}))
    rows = run_script(tmp_path, str(tmp_path / "forgets.jinja"), f"keeps={config}", "--origin", "here")
    assert verdicts(rows[: len(NAMED)]) == verdicts(row for row in ROWS if row["origin"] == "bpelab")
    forgets, keeps = rows[len(NAMED) :]
    assert (forgets["name"], forgets["origin"], forgets["preserving"]) == ("forgets", "here", False)
    assert forgets["place"] == 0 and len(forgets["messages"]) == 2
    assert (keeps["name"], keeps["proved"]) == ("keeps", True)


def test_the_record_is_of_many_templates():
    assert Counter(row["origin"] for row in ROWS)["bpelab"] == len(NAMED)
    assert len({(row["name"], row["origin"]) for row in ROWS}) == len(ROWS) > 70
    for row in ROWS:
        assert row["conversations"] or row["error"]
        if row.get("preserving") is False:
            assert row["place"] >= 0 and len(row["messages"]) > 1 and row["was"] != row["becomes"]


@pytest.mark.slow
def test_llama_cpps_templates_are_still_judged_so(tmp_path):
    package = llama_cpp_sources()
    if package is None:
        pytest.skip(NO_SOURCES)
    with tarfile.open(package) as archive:
        for member in archive:
            if "/models/templates/" in member.name and member.name.endswith(".jinja"):
                (tmp_path / member.name.rpartition("/")[2]).write_bytes(archive.extractfile(member).read())
    recorded = [row for row in ROWS if "llama.cpp" in row["origin"]]
    known = {row["sha256"] for row in recorded}
    rows = [row for row in run_script(tmp_path, str(tmp_path))[len(NAMED) :] if row["sha256"] in known]
    assert verdicts(rows) == verdicts(recorded)


def test_pages_say_how_many_templates_there_are():
    checked = [row for row in ROWS if row["conversations"]]
    text = " ".join(prose(ROOT / "book" / "chat_templates.ipynb").split())
    assert int(re.search(r"checks which of (\d+) templates only append", text)[1]) == len(checked)
    text = " ".join(prose(ROOT / "book" / "drift.ipynb").split())
    said = re.search(r"llama.cpp comes with (\d+) templates, .*? and packages on npm have (\w+) more", text)
    counts = Counter(row["origin"].partition(" ")[0] for row in checked)
    assert (int(said[1]), said[2]) == (counts["llama.cpp,"], {7: "seven"}[counts["npm,"]])


def test_the_page_says_how_many_move_a_late_system_message():
    late = [row for row in ROWS if row.get("messages") and row["messages"][-1]["role"] == "system"]
    moved = [row["name"] for row in late if re.match(r"(System: )?Be kind\.", row["becomes"])]
    assert len(moved) == 5 and sum("DeepSeek" in name for name in moved) == 4
    text = " ".join(prose(ROOT / "book" / "drift.ipynb").split())
    assert "Five append until a system message comes after an answer" in text and "Four of these are DeepSeek's" in text
