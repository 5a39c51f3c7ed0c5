"""`bpelab report`: the numbers on the page are those of the library, and nothing from outside becomes markup."""

import json
import math
import os
import re
from html.parser import HTMLParser

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.analysis.charts import bars, lines, shown
from bpelab.analysis.report import compare
from bpelab.analysis.report_page import page
from bpelab.cli import main
from bpelab.notebook import book_text

HOSTILE = "</title></style><script>alert(1)</script><img src=x onerror=alert(2)>\u202e&amp;\"'"
VOID = {"meta", "br", "img", "link"}


class Markup(HTMLParser):
    """Which elements and attributes a page has, and whether they are closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    text = book_text()
    BPETokenizer.train(text[:40_000], 600, special_tokens=["<|end|>"], progress=False).save(folder / "one")
    BPETokenizer.train(text[:80_000], 900, pattern="gpt2", progress=False).save(folder / "two")
    (folder / "prose.txt").write_text(text[90_000:96_000], encoding="utf-8")
    (folder / "code.txt").write_text("def f(x):\n    return x\n" * 20)
    (folder / "empty.txt").write_text("")
    return folder


def hostile() -> BPETokenizer:
    """Tokens and special names that are markup, byte by byte merged."""
    data, merges, left = HOSTILE.encode(), [], b""
    for byte in data:
        if left:
            merges.append((left, bytes([byte])))
        left += bytes([byte])
    model = BPEModel.from_merges(merges)
    return BPETokenizer(model, pattern=None, special_tokens={"<script>alert(3)</script>": len(model.tokens)})


@pytest.fixture(scope="module")
def hostile_page() -> str:
    tokenizers = {HOSTILE: hostile(), HOSTILE[::-1]: BPETokenizer(BPEModel.from_merges([]), pattern=None)}
    return page(compare(tokenizers, {HOSTILE: HOSTILE, "<b>nothing</b>": ""}))


def test_the_numbers_are_the_librarys(folder, capsys):
    out = folder / "page.html"
    words = ["report", folder / "one", folder / "two", "--text", folder / "prose.txt", "--text", folder / "code.txt"]
    assert main([*map(str, words), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    html = out.read_text(encoding="utf-8")
    text = Markup(html).text
    for name in ("one", "two"):
        tokenizer = BPETokenizer.from_pretrained(folder / name)
        for file in ("prose.txt", "code.txt"):
            data = (folder / file).read_bytes()
            count = len(tokenizer.encode(data.decode()))
            assert f"{count:,}" in text
            assert f"{len(data) / count:.2f}" in text
            assert f"{count:9,} tokens, {len(data) / count:5.2f} bytes per token" in said
    assert said.splitlines()[-1] == f"{out}: written"
    titles = re.findall("<h2>(.*?)</h2>", html)
    assert titles[:7] == [
        "Compression",
        "Round trip",
        "Numbers",
        "White space",
        "Longest tokens",
        "What vocabularies share",
        "Tokens that are never reached",
    ]


def test_a_page_of_one_tokenizer_and_the_books_text(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(folder / "one")]) == 0
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the book&#x27;s text" in html
    assert "What vocabularies share" not in html
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["one", "one"], "given twice"),
        (["one"] * 9, "too many"),
        (["one", "--text", "gone.txt"], "gone.txt"),
        (["one", "--text", "bad.txt"], "is not UTF-8"),
        (["one", "--text", "prose.txt", "--out", "prose.txt"], "would be overwritten"),
        (["nobody-has-this"], "neither a tokenizer's file or folder"),
        (["one", "--out", "no/such/folder.html"], "no/such"),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_no_page(folder, words, problem, monkeypatch, capsys):
    pytest.importorskip("tiktoken")
    monkeypatch.chdir(folder)
    (folder / "bad.txt").write_bytes(b"\xff")
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert main(["report", *words]) == 1
    err = capsys.readouterr().err
    assert problem in err
    assert err.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_help_says_how(capsys):
    with pytest.raises(SystemExit) as done:
        main(["report", "--help"])
    assert done.value.code == 0
    said = capsys.readouterr().out
    assert "examples:" in said
    assert "no script" in said


def test_nothing_from_outside_becomes_markup(hostile_page):
    found = Markup(hostile_page)
    assert not found.tags & {"script", "img", "link", "a", "iframe", "object"}
    assert not {name for name in found.attributes if name.startswith("on") or name in ("href", "src")}
    assert "\u202e" not in hostile_page
    assert "<script>alert(1)" in found.text  # as text
    assert not re.search(r"https?:|url\(|@import", hostile_page)


def test_odd_texts_have_no_numbers_that_are_none(hostile_page):
    assert not re.search(r"(?<![a-z])(nan|inf)(?![a-z])", hostile_page)
    assert "–" in hostile_page


def test_characters_for_tokens_and_a_normalizer(tmp_path):
    """A tokenizer of characters with an unknown token: it loses text, and the page says so."""
    vocab = {"<unk>": 0, "a": 1, "b": 2, "ab": 3}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"]], "unk_token": "<unk>"}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": model, "added_tokens": []}))
    report = compare({"few": BPETokenizer.from_pretrained(tmp_path)}, {"a text": "abc"})
    assert report.measured["few"].back == {"a text": False, "a hard sample": False}
    assert report.measured["few"].unmet is None
    html = page(report)
    assert "<b>no</b>" in html
    assert "not told for tokens that are characters" in html


def test_charts():
    drawn = bars({"t": {"a": 2.0, "b": 1.0, "none": math.nan}}, "bytes per token")
    widths = [float(width) for width in re.findall(r'<rect[^>]* width="([\d.]+)"', drawn)]
    assert widths[0] == 2 * widths[1] > 0 == widths[2]
    assert "–" in drawn
    drawn = lines({"a": [1, 2, 4], "b": [0, 0, 0]}, "spaces", "tokens")
    first, second = re.findall(r'points="([^"]*)"', drawn)
    heights = [float(point.split(",")[1]) for point in first.split()]
    assert heights[0] - heights[1] == pytest.approx((heights[1] - heights[2]) / 2, abs=0.11)
    assert len(second.split()) == 3
    Markup(bars({}, "x") + lines({}, "x", "y") + lines({"one": [3]}, "x", "y"))
    assert shown("x" * 30, 4) == "xxxx…"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1000])
def test_it_is_quiet_fits_and_can_be_read(hostile_page, theme, width, browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(hostile_page, encoding="utf-8")
    tab = browser.new_page(color_scheme=theme, viewport={"width": width, "height": 800})
    problems: list[str] = []
    tab.on("console", lambda message: problems.append(message.text))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("dialog", lambda dialog: problems.append(dialog.message))
    tab.on("request", lambda request: request.url == path.as_uri() or problems.append(request.url))
    tab.goto(path.as_uri(), wait_until="load")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    colours = tab.evaluate(
        """[...document.querySelectorAll("p, td, th, h2, svg text")].map((node) => {
             const style = getComputedStyle(node);
             return node.closest("svg") ? style.fill : style.color; })"""
    )
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.close()
    assert problems == []
    assert min(_contrast(colour, background) for colour in set(colours)) >= 4.5
    assert (_light(background) < 0.1) == (theme == "dark")


def _light(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


def _contrast(first: str, second: str) -> float:
    low, high = sorted((_light(first), _light(second)))
    return (high + 0.05) / (low + 0.05)
