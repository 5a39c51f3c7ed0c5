"""The record that *Superwords* shows: book/superwords_record.py writes it, of texts that the reader brings."""

import json
import subprocess
import sys

import pytest

from bpelab import BPETokenizer, Split, Superwords
from bpelab.notebook import book_text, passages

from ..conftest import ROOT

SCRIPT, RECORD = ROOT / "book" / "superwords_record.py", ROOT / "book" / "superwords_record.json"
METHODS = ["words", *(f"superbpe, {share}%" for share in (50, 75, 90)), "superbpe, 50%, with marks", "boundless"]
FIELDS = {"vocabulary", "method", "pattern", "tokens", "superwords", "superwords_used", "most_frequent"}


def has_all(record, sizes, script_size):
    assert "Written by book/superwords_record.py" in record["about"]
    assert record["date"][:2] == "20" and record["machine"]["cores"] > 0
    for text in record["texts"]:
        assert len(text["sha256"]) == 64 and text["bytes_known"] > 10 * text["bytes_unseen"] > 0
        patterns = ["cl100k", "o200k"] if text["script"] else ["cl100k"]
        for pattern in patterns:
            rows = [row for row in text["rows"] if row["pattern"] == pattern]
            assert all(set(row) == FIELDS for row in rows)
            asked = [script_size] if text["script"] else sizes
            assert [row["method"] for row in rows] == METHODS * len(asked)
            for row, size in zip(rows, [size for size in asked for _ in METHODS], strict=True):
                assert 256 < row["vocabulary"] <= size and 0 < row["tokens"] < text["bytes_unseen"]
                assert row["superwords_used"] <= row["tokens"] and len(row["most_frequent"]) <= 8


def test_the_record_of_the_book_has_what_the_page_shows():
    record = json.loads(RECORD.read_text("utf-8"))
    has_all(record, [32_000, 64_000], 4096)
    assert [row["vocabulary"] for row in record["book"]] == [1024] * 7 + [4096] * 7
    large, *by_script = record["texts"]
    assert large["bytes_known"] > 10e6 and not large["script"]
    assert {text["name"] for text in by_script} >= {"english", "thai", "chinese"}
    assert all(text["script"] and text["bytes_known"] < 400_000 for text in by_script)


def test_the_rows_of_the_book_are_what_is_learned_now():
    text = book_text()
    border = len(text) * 9 // 10
    rows = {(row["vocabulary"], row["transition"]): row["tokens"] for row in json.loads(RECORD.read_text())["book"]}
    for point, superwords in ((1024, None), (512, Superwords(transition=512))):
        tokenizer = BPETokenizer.train(text[:border], 1024, superwords=superwords, progress=False)
        assert rows[1024, point] == tokenizer.count_tokens(text[border:])


@pytest.mark.slow
def test_the_script_writes_what_it_says(tmp_path):
    """On the book, and on its lines in Thai; the words of its last sixteenth are counted again here."""
    out, text = tmp_path / "record.json", tmp_path / "book.txt"
    text.write_bytes(book_text().encode())
    thai = tmp_path / "thai.txt"
    lines = [passages("languages")["thai"][start:] for start in range(40)]
    thai.write_bytes("\n".join(line.replace("\n", " ") for line in lines).encode())
    words = ["book=" + str(text), f"thai={thai}:THAI", "--sizes", "600", "--script-size", "400", "--out", str(out)]
    subprocess.run([sys.executable, str(SCRIPT), *words], check=True, capture_output=True, cwd=ROOT)
    record = json.loads(out.read_text("utf-8"))
    has_all(record, [600], 400)
    book, by_script = record["texts"]
    known, unseen = (
        part.decode() for part in (text.read_bytes()[: book["bytes_known"]], text.read_bytes()[-book["bytes_unseen"] :])
    )
    assert known + unseen == book_text() and known.endswith("\n")
    again = BPETokenizer.train(known, 600, progress=False)
    assert (book["rows"][0]["tokens"], book["rows"][0]["superwords"]) == (again.count_tokens(unseen), 0)
    assert all(row["superwords"] > 0 for row in book["rows"][1:])
    assert by_script["script"] == "THAI"
    for row in by_script["rows"]:
        assert all(len(Split(row["pattern"]).split(token)) > 1 for token in row["most_frequent"])
