"""`bpelab report`: the numbers on the page are those of the library, and nothing from outside becomes markup."""

import io
import json
import math
import os
import re
import shutil
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.analysis.compression import compression
from bpelab.analysis.cost import context_capacity, price, vocabulary_share
from bpelab.analysis.domains import domain_shift
from bpelab.analysis.fairness import tokenization_premiums
from bpelab.analysis.numbers import NumberCuts
from bpelab.analysis.report.measure import compare
from bpelab.analysis.report.page import page
from bpelab.analysis.report.svg_charts import bars, escape_html, lines
from bpelab.analysis.shape import ModelShape
from bpelab.cli.main import main
from bpelab.convert import convert
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
    texts = {HOSTILE: HOSTILE, "<b>nothing</b>": ""}
    shape = ModelShape(2, 4, 4, 16, 64, 172, 9)
    return page(compare(tokenizers, texts, parallel=texts, shape=shape, context=100, price=1.5))


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
    assert titles[:8] == [
        "Compression",
        "Domain shift",
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
    assert not {"What vocabularies share", "Domain shift", "Parity", "Cost"} & set(re.findall("<h2>(.*?)</h2>", html))
    assert os.listdir(tmp_path) == ["report.html"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["one", "one"], "given twice: one"),
        (["one", "one/"], "given twice: one/, which is one"),
        (["one", "link"], "given twice: link, which is one"),
        (["one", "--text", "prose.txt", "--text", "two/../prose.txt"], "given twice: two/../prose.txt"),
        (["one", "--parallel", "prose.txt", "./prose.txt"], "given twice: ./prose.txt"),
        (["one", "--parallel", "prose.txt"], "--parallel takes two texts or more"),
        (["one"] * 9, "too many"),
        (["one", "--text", "gone.txt"], "gone.txt: there is no such file"),
        (["one", "--parallel", "prose.txt", "gone.txt"], "gone.txt: there is no such file"),
        (["one", "--text", "."], ". is a folder; name the texts in it"),
        (["one", "--text", "x" * 300], "can't be read: File name too long"),
        (["one", "--text", "prose.txt", "--text", "empty.txt"], "empty.txt is empty, so there is nothing to measure"),
        (["prose.txt"], "prose.txt: is not JSON, and isn't named like another tokenizer file"),
        (["prose.txt"], "Texts to measure are given with --text"),
        (["one", "broken.json"], "broken.json: is not JSON: Expecting"),
        (["no/such"], "no/such: there is no such file or folder"),
        (["one", "--pattern", "gpt2"], "--pattern is for .tiktoken files"),
        (["one", "--context", "0"], "context must be an integer from 1"),
        (["one", "--price", "nan"], "price must be a finite number"),
        (["one", "--shape", "gone.json"], "gone.json: can't be read: No such file"),
        (["one", "--shape", "one/tokenizer.json"], "one/tokenizer.json: the config has no 'hidden_size'"),
        (["one", "--text", "bad.txt"], "is not UTF-8"),
        (["one", "--text", "prose.txt", "--out", "prose.txt"], "would be overwritten"),
        (["one", "--text", "prose.txt", "--out", "two/../prose.txt"], "would be overwritten"),
        (["one", "--parallel", "prose.txt", "code.txt", "--out", "code.txt"], "would be overwritten"),
        (["one", "--text", "prose.txt", "--out", "to_prose.html"], "would be overwritten"),
        (["one", "--text", "prose.txt", "--out", "one/tokenizer.json"], "exists already and is not a report"),
        (["one", "--text", "prose.txt", "--out", "link/tokenizer.json"], "exists already and is not a report"),
        (["one", "--text", "prose.txt", "--out", "to_tokenizer.html"], "exists already and is not a report"),
        (["one", "--out", "other.html"], "exists already and is not a report"),
        (["one", "--out", "pipe"], "exists already and is not a report"),
        (["one", "--out", "link/merges.txt"], "link/merges.txt is in a folder that a tokenizer is read from"),
        (["one/tokenizer.json", "--out", "one/vocab.json"], "is in a folder that a tokenizer is read from"),
        (["one", "--out", "-"], "--out - is not a file"),
        (["one", "--out", "."], "--out . is a folder; name a file, such as report.html"),
        (["one", "--out", "two"], "--out two is a folder; name a file, such as two/report.html"),
        (["one", "--out", "prose.txt/x.html"], "there is no folder prose.txt; create it first"),
        (["one", "--text", "prose.txt", "--out", "x" * 300], "can't be written: File name too long"),
        (["nobody-has-this"], "neither a tokenizer's file or folder"),
        (["one", "--out", "no/such/folder.html"], "no/such"),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_no_page(folder, words, problem, monkeypatch, capsys):
    pytest.importorskip("tiktoken")
    monkeypatch.chdir(folder)
    (folder / "bad.txt").write_bytes(b"\xff")
    (folder / "broken.json").write_text('{"model": ')
    (folder / "other.html").write_text("<!doctype html>\n<html><title>Not ours</title></html>")
    links = {"link": "one", "to_prose.html": "prose.txt", "to_tokenizer.html": "one/tokenizer.json"}
    for name, target in links.items():
        if not (folder / name).exists():
            (folder / name).symlink_to(target)
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")
    before = {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}
    assert main(["report", *words]) == 1
    err = capsys.readouterr().err
    assert problem in err
    assert "Errno" not in err
    assert err.count("\n") == 1
    assert {path: path.lstat().st_mtime_ns for path in folder.rglob("*")} == before


def test_an_older_page_is_replaced_also_beside_the_tokenizer(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder / "one", tmp_path / "one")
    for out in ("report.html", "one/report.html", "named-otherwise"):
        assert main(["report", "one", "--out", out]) == 0
        first = Path(out).read_text(encoding="utf-8")
        assert main(["report", "one", "--text", str(folder / "prose.txt"), "--out", out]) == 0
        assert Path(out).read_text(encoding="utf-8") != first
    again, first = (BPETokenizer.from_pretrained(path) for path in ("one", folder / "one"))
    assert again.encode("the harbour") == first.encode("the harbour")


def test_a_page_is_not_its_own_input(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(folder / "one")]) == 0
    before = Path("report.html").read_bytes()
    assert main(["report", str(folder / "one"), "--text", "report.html"]) == 1
    assert "would be overwritten" in capsys.readouterr().err
    assert Path("report.html").read_bytes() == before


def test_standard_input_is_a_text(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for data, code in ((b"the harbour", 0), (b"", 1), (b"\xff", 1)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(["report", str(folder / "one"), "--text", "-"]) == code
        said = capsys.readouterr()
        assert "standard input" in said.out + said.err
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "standard input (11 bytes)" in html


def test_a_pattern_is_for_those_that_need_one(folder, tmp_path, capsys):
    tokenizer = BPETokenizer.from_pretrained(folder / "two")
    convert(tokenizer, tmp_path / "two.tiktoken", "tiktoken")
    convert(tokenizer, tmp_path / "gpt2", "gpt2")
    (tmp_path / "gpt2" / "tokenizer_config.json").unlink(missing_ok=True)
    names = [str(path) for path in (folder / "one", tmp_path / "two.tiktoken", tmp_path / "gpt2")]
    words = [*names, "--text", str(folder / "prose.txt"), "--out", str(tmp_path / "page.html")]
    assert main(["report", *words, "--pattern", "gpt2"]) == 0
    one, two, three = (line.split()[1] for line in capsys.readouterr().out.splitlines()[1:4])
    assert two == three == f"{len(tokenizer.encode((folder / 'prose.txt').read_text(encoding='utf-8'))):,}" != one


@pytest.fixture(scope="module")
def asked(folder):
    """A page with everything that may be asked for, and its report."""
    tokenizers = {name: BPETokenizer.from_pretrained(folder / name) for name in ("one", "two")}
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in ("prose.txt", "code.txt")}
    parallel = {"English": "born free and equal", "Greek": "ελεύθεροι και ίσοι", "Hindi": "जन्मजात स्वतन्त्रता"}
    shape = ModelShape(2, 4, 4, 16, 64, 172, 9)
    report = compare(tokenizers, texts, parallel=parallel, shape=shape, context=8192, price=2.5)
    return tokenizers, texts, parallel, shape, page(report)


def section(html: str, title: str) -> str:
    return html.split(f"<h2>{title}</h2>")[1].split("</section>", maxsplit=1)[0]


def cells(html: str) -> list[list[str]]:
    rows = re.findall("<tr>(.*?)</tr>", html)
    return [re.findall("<td[^>]*>(.*?)</td>", row) for row in rows if "<td" in row]


def test_domain_shift_is_the_librarys(asked):
    tokenizers, texts, _, _, html = asked
    there = section(html, "Domain shift")
    for row in cells(there):
        shift = domain_shift(tokenizers[row[1]], texts["prose.txt"], texts["code.txt"])
        ratios = [f"{each.bytes_per_token:.2f}" for each in (shift.home, shift.away)]
        assert row == ["code.txt", row[1], *ratios, f"{100 * shift.loss:.1f}%"]
    assert [row[1] for row in cells(there)] == ["one", "two"]
    for text in texts.values():
        counts = [len(tokenizer.encode(text)) for tokenizer in tokenizers.values()]
        assert f">{max(counts) / min(counts):.2f}</text>" in there


def test_parity_is_the_librarys(asked):
    tokenizers, _, parallel, _, html = asked
    rows = cells(section(html, "Parity"))
    found = {name: tokenization_premiums(tokenizer, parallel, "English") for name, tokenizer in tokenizers.items()}
    assert [row[:2] for row in rows] == [[text, name] for text in parallel for name in tokenizers]
    for text, name, *numbers in rows:
        paid = found[name][text]
        ratios = (paid.premium, paid.byte_premium, paid.tokenizer_premium)
        assert numbers == [str(paid.tokens), str(paid.bytes), *(f"{ratio:.2f}" for ratio in ratios)]
        assert text == "English" or f">{paid.premium:.2f}</text>" in section(html, "Parity")


def test_cost_is_the_librarys(asked):
    tokenizers, texts, _, shape, html = asked
    rows = cells(section(html, "Cost"))
    order = [(text, name) for text in texts for name in tokenizers]
    assert [tuple(row[:2]) for row in rows] == order * 3
    for row in rows[:4]:
        fits = context_capacity(8192, compression(tokenizers[row[1]], texts[row[0]]))
        assert row[3:] == [f"{fits.words:,.0f}", f"{fits.pages:,.1f}"]
    for text, name, tokens, cost in rows[4:8]:
        count = len(tokenizers[name].encode(texts[text]))
        assert (tokens, cost) == (f"{count:,}", f"{price({'read': count}, {'read': 2.5}):.6f}")
    for _, name, tokens, *numbers in rows[8:]:
        count, sized = int(tokens.replace(",", "")), replace(shape, vocabulary=tokenizers[name].n_vocab)
        work, weights = sized.operations_for(count), sum(sized.weights.values())
        output, held = work["output"] / sum(work.values()), vocabulary_share(sized)[0]
        assert numbers[0] == f"{sum(work.values()):,}"
        assert numbers[1:4] == [f"{100 * output:.1f}%", f"{weights:,}", f"{100 * held:.1f}%"]
        assert numbers[4] == f"{count * sized.cache_bytes:,}"


def test_the_command_asks_for_them(folder, tmp_path):
    config = {"n_layer": 2, "n_head": 4, "n_embd": 64, "vocab_size": 9}
    (tmp_path / "config.json").write_text(json.dumps(config))
    both = ["--parallel", str(folder / "prose.txt"), str(folder / "code.txt")]
    cost = ["--shape", str(tmp_path / "config.json"), "--context", "100", "--price", "3"]
    assert main(["report", str(folder / "one"), *both, *cost, "--out", str(tmp_path / "page.html")]) == 0
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert {"Parity", "Cost"} < set(re.findall("<h2>(.*?)</h2>", html))
    assert "2 layers" in html
    assert "context of 100 tokens" in html
    assert "at 3 for a million" in html
    assert "over the fewest" not in html  # one tokenizer has nobody to compare with


def test_line_ends_can_be_read_and_shares_of_nothing_are_left_out(folder):
    tokenizer = BPETokenizer.train("a\n\n\tb\r\n " * 9 + "12 " * 9, 265, pattern=None, progress=False)
    report = compare({"t": tokenizer}, {"a text": "a"})
    html = page(report)
    assert r"\n\n\tb\r\n" in html
    assert not re.search(r"\\u000[9ad]", html)
    few = NumberCuts({3: Counter({(3,): 996, (1, 1, 1): 4})})
    measures = {"t": replace(report.measures["t"], numbers=few)}
    assert "whole 100%</td>" in page(replace(report, measures=measures))


def test_help_says_how(capsys):
    with pytest.raises(SystemExit) as done:
        main(["report", "--help"])
    assert done.value.code == 0
    said = capsys.readouterr().out
    assert "examples:" in said
    assert "no network, runs no script" in " ".join(said.split())


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
    assert report.measures["few"].round_trips == {"a text": False, "a hard sample": False}
    assert report.measures["few"].unreachable_alone is None
    html = page(report)
    assert "<b>no</b>" in html
    assert "not reported for tokens that are characters" in html


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
    assert escape_html("x" * 30, 4) == "xxxx…"


@pytest.mark.slow
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
