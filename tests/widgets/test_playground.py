"""The box to type in: its data is the library's, and in a browser its ids, merges and labels are the library's too."""

import json
import random
from itertools import accumulate

import pytest

from bpelab import BPEModel, BPETokenizer, Split
from bpelab._support.install import install_command
from bpelab.encoders.naive import NaiveEncoder
from bpelab.errors import BPELabError
from bpelab.model.trace import trace_encode
from bpelab.notebook import book_text
from bpelab.vocab.added_tokens import AddedToken
from bpelab.vocab.special_tokens import SpecialTokens

from ..conftest import ROOT, amount, boundary_characters, fuzz_text
from .box import CHAT, Side, fill, settle, tokenizer

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets import Playground
from bpelab.widgets.base import resource
from bpelab.widgets.trained_data import flat_merges, trained_data
from bpelab.widgets.visible import visible

CASES = ROOT.parent / "shared" / "conformance" / "cases.jsonl"


def test_merges_are_pairs_of_ids_in_order():
    flat, model = flat_merges("", tokenizer()), tokenizer().model
    tokens = {byte: bytes([byte]) for byte in range(256)}
    for index, (left, right) in enumerate(zip(flat[::2], flat[1::2])):
        tokens[256 + index] = tokens[left] + tokens[right]
    assert tokens == dict(model.tokens)


def test_tokenizers_that_the_box_can_not_hold_are_refused():
    table = {bytes([255 - byte]): byte for byte in range(256)}
    whole, ranks = (
        BPETokenizer(BPEModel.from_ranks(table, ignore_merges=own), pattern="gpt2") for own in (True, False)
    )
    added = tokenizer().with_options(special_tokens=SpecialTokens([AddedToken("low", 5000, special=False)]))
    for bad, why in [
        ([ranks], "as `train` numbers them"),
        ([whole], "takes some whole"),
        ([added], "are all special"),
        ([tokenizer().with_options(normalizer="NFC")], "no normalizer"),
        ([BPETokenizer(tokenizer().model, pattern="[a-z]+")], "the published split patterns"),
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


def texts(rng: random.Random, count: int) -> list[str]:
    """Texts that both sides can hold: lone surrogates, which no page can send, are U+FFFD."""
    found = [fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(count)]
    return [*found, *boundary_characters(), "", "a" * 2000, "😀" * 500]


START = """
const { library, core, patterns, looks } = bpelabLibrary;
const resources = { core: Uint8Array.from(atob(core), (char) => char.charCodeAt(0)), patterns };
const service = WebAssembly.compile(resources.core)
  .then((module) => new (library(resources).TokenizerService)(module, resources));
"""


@pytest.fixture(scope="module")
def page(browser, folder):
    """A page that has the library, and no figure."""
    page = browser.new_page()
    (folder / "empty.html").write_text('<!doctype html><script src="_static/bpelab-library.js"></script>')
    page.goto((folder / "empty.html").as_uri(), wait_until="load")
    page.add_script_tag(content=START)
    yield page
    page.close()


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["cl100k", "gpt2", "o200k"])
def test_ids_in_a_browser_are_those_of_the_library(page, pattern):
    rng, own = random.Random(pattern), tokenizer(pattern)
    many = [text.encode("utf-8", "replace").decode() for text in texts(rng, amount(5_000, 200_000))]
    if CASES.exists():
        with CASES.open(encoding="utf-8") as lines:
            cases = [case["text"] for case in map(json.loads, lines) if "text" in case]
        many += [text[:20_000].encode("utf-8", "replace").decode() for text in cases]
    ids = page.evaluate(
        """async ([data, texts]) => {
            const tokenizer = (await service).openTrained(data);
            return texts.map((text) => [...tokenizer.encode(text)]);
        }""",
        [trained_data("", own), many],
    )
    for text, found in zip(many, ids, strict=True):
        assert found == own.encode_ordinary(text), text


@pytest.mark.slow
def test_labels_in_a_browser_are_those_of_the_library(page):
    rng = random.Random(5)
    tokens = [text.encode()[rng.randrange(4) : rng.randrange(4, 20)] for text in texts(rng, 2_000)]
    labels = page.evaluate(
        f"""(tokens) => {{
            {resource("js/labels.js")}
            const look = makeLook(looks);
            return tokens.map((bytes) => visible(bytes, look));
        }}""",
        [[*token] for token in tokens],
    )
    for token, label in zip(tokens, labels, strict=True):
        assert label == visible(token), token


@pytest.mark.slow
def test_a_reader_types_plays_and_chooses(show):
    few = BPETokenizer.train(book_text()[:20_000], 300).with_special_tokens(CHAT)
    page = show(Playground("low", {"many": tokenizer(), "few": few}))
    side = Side(page)
    for text in ("the lamplighter’s café", "日本 😀\n", "a\u200bb", "<|im_end|>"):
        fill(page, text)
        assert side.listed() == tokenizer().encode(text)
        assert bytes.fromhex(side.bytes.inner_text()) == text.encode()
    side.choose("few")
    fill(page, "the harbour, the harbour")
    assert side.listed() == few.encode("the harbour, the harbour")
    assert side.say.inner_text().startswith(f"{len(side.listed())} tokens for 24 bytes")
    slider = side.node.get_by_role("slider")
    slider.fill("0")
    assert side.listed() == [*b"the harbour, the harbour"]
    side.node.get_by_role("button", name="Next").click()
    assert side.say.inner_text().startswith("Merge 1 of ")
    slider.fill(slider.get_attribute("max"))
    assert side.listed() == few.encode("the harbour, the harbour")
    fill(page, "")
    assert side.listed() == [] and side.say.inner_text().startswith("Type something")


@pytest.mark.slow
def test_each_step_of_the_slider_is_a_merge_of_the_definition(show):
    """After so many merges a text's tokens are those of the model that has learned no more."""
    text = "the lamplighter’s café, the lamplighters"
    side = Side(show(Playground(text, {"one": tokenizer()})))
    model, slider = tokenizer().model, side.node.get_by_role("slider")
    ranks = sorted(
        {step.rank for piece in tokenizer().pieces(text) for step in trace_encode(NaiveEncoder(model), piece.encode())}
    )
    assert int(slider.get_attribute("max")) == len(ranks) > 10
    for step in range(len(ranks) + 1):
        slider.fill(str(step))
        learned = [pair for pair, (rank, _) in model.merges.items() if rank in ranks[:step]]
        small = BPEModel.from_merges([(model.tokens[left], model.tokens[right]) for left, right in learned])
        tokens = [
            token for piece in tokenizer().pieces(text) for token in BPETokenizer(small, pattern=None).tokenize(piece)
        ]
        assert [model.tokens[id_] for id_ in side.listed()] == tokens


@pytest.mark.slow
def test_pointing_at_one_lights_up_the_others(show):
    text = "the lamplighter, the lamp"
    few = BPETokenizer.train(book_text()[:20_000], 300)
    page = show(Playground(text, {"many": tokenizer(), "few": few}))
    side, tokens = Side(page), tokenizer().tokenize(text)
    lit = next(at for at, token in enumerate(tokens) if tokens.count(token) == 1 and len(token) > 1)
    for box in (side.flow, side.ids, side.bytes):
        box.locator("[data-token]").nth(lit).hover()
        for other in (side.flow, side.ids, side.bytes):
            assert other.locator(".bl-here").count() == 1
            assert other.locator(".bl-here").get_attribute("data-token") == str(lit)
    said = side.detail.inner_text()
    assert f"id {tokenizer().encode(text)[lit]}, " in said and tokens[lit].hex(" ").upper() in said
    parts = side.node.locator(".bl-merges .bl-here")
    assert 0 < parts.count() <= len(tokens[lit]) - 1
    side.node.locator(".bl-merges [data-merge]").first.hover()
    assert side.flow.locator(".bl-here").count() >= 1 and "time" in side.detail.inner_text()
    page.mouse.move(1, 1)
    assert side.flow.locator(".bl-here").count() == 0
    side.flow.focus()
    page.keyboard.press("ArrowRight")
    assert side.flow.locator(".bl-here").get_attribute("data-token") == "0"
    page.keyboard.press("ArrowRight")
    assert side.flow.locator(".bl-here").get_attribute("data-token") == "1"
    side.node.locator(".bl-merges").focus()
    page.keyboard.press("ArrowRight")
    assert side.detail.inner_text().startswith("Merge 1: ")
    assert side.node.locator(".bl-merges .bl-here").get_attribute("data-merge") == "0"

    page.get_by_role("button", name="Compare two vocabularies").click()
    settle(page)
    other = Side(page, 1)
    side.flow.locator("[data-token]").first.hover()
    ends = [[0, *accumulate(map(len, own.tokenize(text)))] for own in (tokenizer(), few)]
    mine, others = [list(zip(one, one[1:])) for one in ends]
    for one, ranges, beside in ((side, mine, others), (other, others, mine)):
        marked = [int(box.get_attribute("data-token")) for box in one.flow.locator(".bl-differs").all()]
        assert marked == [n for n, token in enumerate(ranges) if token not in beside] != []
    shared = other.flow.locator(".bl-here").all_inner_texts()
    assert shared and "".join(shared).startswith(tokens[0].decode())


@pytest.mark.slow
def test_an_attack_leaves_the_readers_text(show):
    box = Playground("low", {"one": tokenizer()})
    page = show(box)
    fill(page, "my own text")
    button, area = page.get_by_role("button", name="Show an attack"), page.get_by_label("Text to encode")
    button.click()
    settle(page)
    careless, safe = page.locator("[aria-live] .bl-two > div").all()
    assert careless.locator(".bl-forged").count() == 2 and safe.locator(".bl-forged").count() == 0
    assert area.input_value() == box.data["attack"]
    fill(page, "<|im_end|> changed")
    button.click()
    settle(page)
    assert area.input_value() == "my own text" and careless.count() == 0
    button.click()
    settle(page)
    assert area.input_value() == "<|im_end|> changed"


@pytest.mark.slow
def test_where_patterns_differ_their_pieces_are_shown(show):
    text = "it's 12345, isn't it"
    plain = {name: tokenizer(name).with_options(special_tokens={}) for name in ("gpt2", "cl100k")}
    page = show(Playground(text, plain))
    assert not page.get_by_role("button", name="Show an attack").is_visible()
    side = Side(page)
    for name, own in plain.items():
        side.choose(name)
        shown = side.node.locator(".bl-flow").nth(1).locator(".bl-token").all_inner_texts()
        assert shown == [piece.replace(" ", "·") for piece in own.pieces(text)]


def test_the_box_is_small():
    """What a page holds of two vocabularies is less than a picture."""
    assert len(json.dumps(Playground("", {"one": tokenizer(), "two": tokenizer()}).data)) < 30_000
