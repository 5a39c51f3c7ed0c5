"""The box to type in: its data is the library's, and in a browser its ids, merges and labels are the library's too."""

import json
import random
from functools import lru_cache

import pytest

from bpelab import BPEModel, BPETokenizer, Split
from bpelab._support.install import install_command
from bpelab.errors import BPELabError
from bpelab.notebook import book_text
from bpelab.regex.dfa import dfa_for

from ..conftest import ROOT, amount, boundary_characters, fuzz_text

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets import Playground
from bpelab.widgets.base import resource
from bpelab.widgets.playground import flat_merges, pattern_table
from bpelab.widgets.sphinx import page_script
from bpelab.widgets.visible import visible

CHAT = ["<|im_start|>", "<|im_end|>"]
CASES = ROOT.parent / "shared" / "conformance" / "cases.jsonl"


@lru_cache(None)
def tokenizer(pattern: str = "cl100k") -> BPETokenizer:
    return BPETokenizer.train(book_text()[:60_000], 1200, pattern=pattern).with_special_tokens(CHAT)


def test_runs_of_code_points_are_the_classes_of_the_pattern():
    table, dfa = pattern_table(tokenizer().spec.pre_tokenizer), dfa_for(tokenizer().spec.pre_tokenizer.pattern)
    ends = [*table["starts"][1:], 0x110000]
    for start, end, value in zip(table["starts"], ends, table["classes"]):
        for code in {start, end - 1, (start + end) // 2}:
            assert value >> 2 == dfa.stage2[dfa.stage1[code >> 8] << 8 | code & 255]
            shown = visible(b"a" + chr(code).encode("utf-8", "replace"))[1:]
            assert (value & 3 == 2) == any(kind != "" for kind, _ in shown) or chr(code) in " \t\n" or value & 3 == 0


def test_merges_are_pairs_of_ids_in_order():
    flat, model = flat_merges("", tokenizer()), tokenizer().model
    tokens = {byte: bytes([byte]) for byte in range(256)}
    for index, (left, right) in enumerate(zip(flat[::2], flat[1::2])):
        tokens[256 + index] = tokens[left] + tokens[right]
    assert tokens == dict(model.tokens)


def test_tokenizers_that_the_box_can_not_hold_are_refused():
    ranks = BPETokenizer(BPEModel.from_ranks({bytes([255 - byte]): byte for byte in range(256)}), pattern="cl100k")
    for bad, why in [
        ([ranks], "as `train` numbers them"),
        ([tokenizer().with_options(normalizer="NFC")], "no normalizer"),
        ([BPETokenizer(tokenizer().model, pattern=None)], "a split pattern"),
        ([BPETokenizer(tokenizer().model, pre_tokenizer=Split("-", "Removed"), pattern=None)], "a split pattern"),
        ([], "nothing to encode with"),
    ]:
        with pytest.raises(BPELabError, match=why):
            Playground("text", {str(place): own for place, own in enumerate(bad)})


def test_the_page_says_the_tokens_where_nothing_runs():
    box = Playground("all the <b>", {"one <i>": tokenizer()})
    html = box.static_html()
    assert "one &lt;i&gt;: " in html and "<code>·the</code>" in html and "<b>" not in html
    assert box.data["say"] == f"one <i>: {len(tokenizer().encode('all the <b>'))} tokens."


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    page.set_content("<!doctype html><title>box</title>")
    yield page
    page.close()


def texts(rng: random.Random, count: int) -> list[str]:
    """Texts that both sides can hold: lone surrogates, which no page can send, are U+FFFD."""
    found = [fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(count)]
    return [*found, *boundary_characters(), "", "a" * 2000, "😀" * 500]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["cl100k", "gpt2", "o200k"])
def test_ids_in_a_browser_are_those_of_the_library(page, pattern):
    rng, own = random.Random(pattern), tokenizer(pattern)
    many = [text.encode("utf-8", "replace").decode() for text in texts(rng, amount(20_000, 200_000))]
    if CASES.exists():
        with CASES.open(encoding="utf-8") as lines:
            cases = [case["text"] for case in map(json.loads, lines) if "text" in case]
        many += [text[:20_000].encode("utf-8", "replace").decode() for text in cases]
    data = [pattern_table(own.spec.pre_tokenizer), flat_merges("", own)]
    ids = page.evaluate(
        f"""([pattern, merges, texts]) => {{
            {resource("js/bpe.js")}
            const encoder = makeEncoder(makeSplitter(pattern), merges);
            return texts.map((text) => encoder.encode(text));
        }}""",
        [*data, many],
    )
    for text, found in zip(many, ids, strict=True):
        assert found == own.encode_ordinary(text), text


@pytest.mark.slow
def test_labels_in_a_browser_are_those_of_the_library(page):
    rng = random.Random(5)
    tokens = [text.encode()[rng.randrange(4) : rng.randrange(4, 20)] for text in texts(rng, 2_000)]
    labels = page.evaluate(
        f"""([pattern, tokens]) => {{
            {resource("js/bpe.js")}
            const splitter = makeSplitter(pattern);
            return tokens.map((bytes) => visible(bytes, splitter.look));
        }}""",
        [pattern_table(tokenizer().spec.pre_tokenizer), [[*token] for token in tokens]],
    )
    for token, label in zip(tokens, labels, strict=True):
        assert label == visible(token), token


@pytest.mark.slow
def test_a_reader_types_plays_chooses_and_attacks(browser):
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    few = BPETokenizer.train(book_text()[:20_000], 300).with_special_tokens(CHAT)
    box = Playground("low", {"many": tokenizer(), "few": few})
    page.set_content(f"<!doctype html>{box.static_html()}")
    page.add_script_tag(content=page_script())
    area, say, ids = page.get_by_label("Text to encode"), page.locator(".bl-say"), page.locator(".bl-ids")

    def listed():
        return [int(number) for number in ids.inner_text().split()]

    for text in ("the lamplighter’s café", "日本 😀\n", "a\u200bb"):
        area.fill(text)
        assert listed() == tokenizer().encode(text)
    page.get_by_label("few").check()
    area.fill("the harbour, the harbour")
    assert listed() == few.encode("the harbour, the harbour")
    assert say.inner_text().startswith(f"{len(listed())} tokens for 24 bytes")
    slider = page.get_by_role("slider")
    slider.fill("0")
    assert listed() == [*b"the harbour, the harbour"]
    page.get_by_role("button", name="Next").click()
    assert say.inner_text().startswith("Merge 1 of ")
    slider.fill(slider.get_attribute("max"))
    assert listed() == few.encode("the harbour, the harbour")
    area.fill("")
    assert listed() == [] and say.inner_text().startswith("Type something")

    button = page.get_by_role("button", name="Show an attack")
    button.click()
    assert page.locator(".bl-two .bl-forged").count() == 2
    assert listed() == few.encode_ordinary(box.data["attack"])
    careless, safe = page.locator(".bl-two > div").all()
    assert careless.locator(".bl-forged").count() == 2 and safe.locator(".bl-forged").count() == 0
    button.click()
    assert area.input_value() == "low" and not page.locator(".bl-two").is_visible()
    page.close()
    assert problems == []


@pytest.mark.slow
def test_where_patterns_differ_their_pieces_are_shown(browser):
    page, text = browser.new_page(), "it's 12345, isn't it"
    plain = {name: tokenizer(name).with_options(special_tokens={}) for name in ("gpt2", "cl100k")}
    page.set_content(f"<!doctype html>{Playground(text, plain).static_html()}")
    page.add_script_tag(content=page_script())
    assert not page.get_by_role("button", name="Show an attack").is_visible()
    for name, own in plain.items():
        page.get_by_label(name).check()
        shown = page.locator(".bl-flow").nth(1).locator(".bl-token").all_inner_texts()
        assert shown == [piece.replace(" ", "·") for piece in own.pieces(text)]
    page.close()


def test_the_box_is_small():
    """Its own code, and the data of two vocabularies, are less than a picture."""
    assert len(resource("js/bpe.js")) + len(resource("js/playground.js")) < 10_000
    assert len(json.dumps(Playground("", {"one": tokenizer(), "two": tokenizer()}).data)) < 60_000
