"""The record that *More than one machine* plans with: book/growth.py writes it, its counts follow from the recipe."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bpelab.notebook.zipf_text import zipf_text
from bpelab.pretokenizers import Split
from bpelab.trainers.counting.counters import make_counter

from ..conftest import ROOT, amount

pytest.importorskip("distributed")
pytest.importorskip("bpelab.native._core", reason="the extension was not built: no C compiler")

SCRIPT, RECORD = ROOT / "book" / "growth.py", ROOT / "book" / "growth_record.json"
FIELDS = {
    "parts": None,
    "distinct": None,
    "table_bytes": None,
    "merges": None,
    "counting": ("seconds", "processor_seconds"),
    "merging": ("seconds", "processor_seconds"),
    "network_bytes": ("between_workers", "to_this_process"),
    "peak_bytes": ("worker", "counting", "merging"),
}


def table(megabytes):
    """What the recipe gives, counted in this process."""
    counter = make_counter(Split("cl100k"))
    counter.feed(["".join(zipf_text(round(megabytes * 1e6)))])
    return counter.table()


def has_all(record, sizes):
    assert "Written by book/growth.py" in record["about"]
    assert record["date"][:2] == "20"
    assert record["machine"]["cores"] > 0 and record["machine"]["python"][0] == "3"
    assert [row["megabytes"] for row in record["sizes"]] == sizes
    for row in record["sizes"]:
        assert set(row) == {"megabytes", *FIELDS}
        for name, parts in FIELDS.items():
            assert min(row[name][part] for part in parts) >= 0 if parts else row[name] > 0, (row, name)
        assert row["network_bytes"]["to_this_process"] >= row["table_bytes"] > 16 * row["distinct"]
        assert min(row["peak_bytes"].values()) > 10_000_000


@pytest.mark.slow
def test_the_script_writes_what_it_says(tmp_path):
    again, out = table(0.05), tmp_path / "record.json"
    subprocess.run([sys.executable, str(SCRIPT), "0.05", "--out", str(out)], check=True, capture_output=True, cwd=ROOT)
    record = json.loads(out.read_text("utf-8"))
    has_all(record, [0.05])
    assert (record["sizes"][0]["distinct"], record["sizes"][0]["table_bytes"]) == (len(again.ends), again.nbytes)
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.slow
def test_the_record_has_all_and_its_counts_are_those_of_the_recipe():
    record = json.loads(Path(RECORD).read_text("utf-8"))
    has_all(record, [1, 10, 100, 1000])
    for row in record["sizes"][: amount(1, 3)]:
        again = table(row["megabytes"])
        assert (row["distinct"], row["table_bytes"]) == (len(again.ends), again.nbytes)
