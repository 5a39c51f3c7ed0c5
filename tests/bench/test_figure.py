"""README's chart says what its record says, and `make speeds` makes both."""

import json
import re

import pytest

from bpelab.bench.record import Row, speeds, to_json, validate
from bpelab.bench.report import save_figure
from bpelab.notebook.plotting import COLOURS

from ..conftest import ROOT

RECORD, CHART = "book/speeds_record.json", "book/images/speeds.svg"


@pytest.fixture(scope="module")
def record():
    return validate(json.loads((ROOT / RECORD).read_text("utf-8")))


def panels(record):
    """The rates of the chart's bars, by text and output; and the libraries, from the slowest on."""
    rows = {row: found for row, found in speeds(record).items() if row.measure == "unseen"}
    encoding = next(iter(rows)).encoding
    texts = list(dict.fromkeys(row.text for row in rows))
    lists = rows[Row(encoding, "unseen", texts[0], "list", 1)]
    names = sorted(lists, key=lambda name: lists[name].rate)
    by_row = {(text, out): rows[Row(encoding, "unseen", text, out, 1)] for text in texts for out in ("list", "array")}
    return names, {at: [row[name] for name in names if name in row] for at, row in by_row.items()}


def test_every_bar_is_as_long_as_its_rate_and_has_its_ratio(record):
    drawn = (ROOT / CHART).read_text("utf-8")
    names, rows = panels(record)
    words = [re.sub(r"<[^>]+>", "", text) for text in re.findall(r"<text.*?</text>", drawn, re.DOTALL)]
    assert [word.strip() for word in words if word.strip() in names] == names
    assert {f"{text}, cl100k_base" for text, _ in rows} <= set(words)
    assert [word for word in words if re.fullmatch(r"[\d.]+x", word)] == [
        f"{speed.times.median:.1f}x" for row in rows.values() for speed in row
    ]
    for colour, output in zip(COLOURS, ("list", "array")):
        bars = re.findall(rf'd="M ([\d.]+) [\d.]+ \s*L ([\d.]+) [^"]*"[^>]*clip-path[^>]*fill: {colour}', drawn, re.I)
        lengths = [float(end) - float(begin) for begin, end in bars]
        rates = [speed.rate for (_, of), row in rows.items() if of == output for speed in row]
        expected = [rate / max(rates) for rate in rates]
        assert [length / max(lengths) for length in lengths] == pytest.approx(expected, abs=0.002)


def test_the_same_record_gives_the_same_chart(record, tmp_path):
    for name in ("one.svg", "two.svg"):
        save_figure(record, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "one.svg").stat().st_size < 200_000


def test_a_record_survives_its_file(record):
    assert json.loads(to_json(record)) == record
    assert (ROOT / RECORD).read_text("utf-8") == to_json(record)
    empty = {**record, "samples": []}
    assert json.loads(to_json(empty)) == empty


def test_one_command_makes_both_and_readme_shows_them(record):
    (line,) = (line for line in (ROOT / "Makefile").read_text("utf-8").split("\n") if "bpelab bench" in line)
    assert f"--json {RECORD} --figure {CHART}" in line
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"]({CHART})" in readme and "`make speeds`" in readme
    assert record["libraries"]["bpelab"]["version"] and record["machine"]["cpu"]
