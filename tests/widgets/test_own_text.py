"""A reader's own text on a page, where no kernel is: the figure's data are those that `compute` in Python makes."""

import json
import random
import re
import shutil
from functools import lru_cache

import pytest

from bpelab import BPEModel, BPETokenizer, Superwords
from bpelab._support.install import install_command
from bpelab.notebook import book_text
from bpelab.regex.patterns import PATTERNS

from ..conftest import amount, boundary_characters, fuzz_text
from .box import tokenizer

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets import Figure, MergePlayer, PreTokenView, StreamBuffer, TokenView, TransitionPoint
from bpelab.widgets.base import BOX, OWN_TEXT, SHARED, TOKENIZERS, resource
from bpelab.widgets.page_automaton import page_automaton
from bpelab.widgets.trained_data import MOST_IDS, own_tokenizers


@lru_cache(1)
def few() -> BPETokenizer:
    return BPETokenizer.train(book_text()[:20_000], 300, pattern="o200k")


@lru_cache(1)
def late() -> dict[int, BPETokenizer]:
    """Of one size, with words up to two transition points."""
    corpus = book_text()[:30_000]
    early = BPETokenizer.train(corpus, 500, superwords=Superwords(transition=350))
    return {350: early, 500: BPETokenizer.train(corpus, 500)}


FIGURES = {
    "MergePlayer": lambda text: MergePlayer(tokenizer(), text),
    "StreamBuffer": lambda text: StreamBuffer(few(), text),
    "TokenView": lambda text: TokenView(text, {"<b>": tokenizer(), "few": few()}),
    "TokenView, one": lambda text: TokenView(text, few()),
    "PreTokenView": lambda text: PreTokenView(text, ("gpt2", "cl100k", "o200k")),
    "PreTokenView, gaps": lambda text: PreTokenView(text, {"<i>": "superbpe", "kimi": "kimi-k2"}),
    "PreTokenView, one": lambda text: PreTokenView(text, ["llama3"]),
    "TransitionPoint": lambda text: TransitionPoint(late(), text, measured="one of the best"),
}
TEXTS = [
    "",
    " ",
    "\n\n  \t",
    "the lamplighter’s café, isn't it?",
    "日本 😀 e\u0301 👩\u200d👩\u200d👧 \u200b\ufeff",
    "</script><b>&amp;\\u003c",
    "�\x00\x7f\u2028",
    "<|im_start|>system<|im_end|>",
    "1234567 3.14",
    "ab" * 2000,
    "é" * 150,
    "😀" * 3001,
    " " * 5000,
    "of the end of the end of the end, 12345 times " * 3,
]


def page_data(figure: Figure) -> dict:
    """What a page holds of a figure."""
    return json.loads(re.search(r'<script type="application/json">(.*)</script>', figure.static_html())[1])


@pytest.fixture(scope="module")
def page(browser, folder):
    """A page with the library and the code that computes, and without a figure."""
    page = browser.new_page()
    (folder / "own.html").write_text('<!doctype html><script src="_static/bpelab-library.js"></script>')
    page.goto((folder / "own.html").as_uri(), wait_until="load")
    parts = "\n".join(resource(f"js/{part}") for part in (*SHARED, *TOKENIZERS, *BOX, *OWN_TEXT))
    page.add_script_tag(content=f"{parts}\nconst started = startLibrary(bpelabLibrary);")
    yield page
    page.close()


COMPUTE = """async ([name, data, texts]) => {
    const model = pageModel(name, data, () => started), all = [];
    for (const text of texts) {
        model.set("text", text);
        await model.save_changes();
        all.push([JSON.parse(JSON.stringify(model.get("data"))), model.get("error")]);
    }
    return all;
}"""


@pytest.mark.slow
@pytest.mark.parametrize("maker", FIGURES)
def test_data_are_those_of_compute(page, maker):
    rng, figure = random.Random(maker), FIGURES[maker]("first")
    texts = [*TEXTS, *(fuzz_text(rng).encode("utf-8", "replace").decode() for _ in range(amount(150, 5_000)))]
    marks = boundary_characters()
    texts += ["".join(rng.sample(marks, 90)) for _ in range(amount(20, 500))]
    found = page.evaluate(COMPUTE, [figure.name, page_data(figure), texts])
    for text, (data, error) in zip(texts, found, strict=True):
        figure.text = text
        assert (data, error) == (json.loads(json.dumps(figure.data)), ""), text


@pytest.mark.slow
def test_lone_surrogates_become_what_python_makes_of_them(page):
    figure = MergePlayer(few(), "first")
    data = page_data(figure)
    texts = '["a\\ud800\\udc00\\ud800b"]'
    ((found, _),) = page.evaluate(f"([name, data]) => ({COMPUTE})([name, data, {texts}])", ["merge_player", data])
    figure.text = "a\ud800\udc00\ud800b"
    assert found == json.loads(json.dumps(figure.data))


def drawn(page) -> list[str]:
    """The HTML of a figure where it opens, and after some of its steps, the first and the last among them."""
    slider = page.get_by_role("slider")
    steps = []
    if slider.is_visible():
        last = int(slider.get_attribute("max"))
        steps = [str(round(last * part / 6)) for part in range(7)]
    body = page.locator(".bl-body")
    first = body.inner_html()
    return [first, *((slider.fill(step), body.inner_html())[1] for step in steps)]


@pytest.fixture
def still(browser, folder):
    """A function that opens a page with a figure from the disk; at the end there must have been no problem."""
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.set_default_timeout(60_000)

    def open_page(figure, folder=folder):
        html = f'<!doctype html><meta charset="utf-8">{figure.static_html()}'
        path = folder / f"{figure.name}.html"
        path.write_text(f'{html}<script defer src="_static/bpelab-figures.js"></script>', encoding="utf-8")
        page.goto(path.as_uri(), wait_until="load")
        page.locator(".bpelab-alive").wait_for()
        return page

    yield open_page
    page.close()
    assert problems == []


@pytest.mark.slow
@pytest.mark.parametrize("maker", FIGURES)
def test_a_reader_types_into_a_page(still, maker):
    """What is drawn is what a page draws whose text it was, and the library comes with the first text."""
    texts, pages = ("it's the café 日😀", "", "long words, " * 400), []
    for text in texts:
        page = still(FIGURES[maker](text))
        pages.append((drawn(page), page.locator(".bl-note").all_inner_texts()))
    page, asked = still(FIGURES[maker]("first")), []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    box, own = page.get_by_role("textbox", name="Your own text"), drawn(page)
    assert box.input_value() == "first" and asked == []
    for text, (expected, note) in zip(texts, pages):
        before = page.locator(".bl-body").inner_html()
        box.fill(text)
        page.wait_for_function("before => document.querySelector('.bl-body').innerHTML !== before", arg=before)
        assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
        assert (drawn(page), page.locator(".bl-note").all_inner_texts()) == (expected, note)
    assert note and own != expected
    assert [name for name in asked if not name.startswith("blob")] == ["bpelab-library.js"]


@pytest.mark.slow
def test_without_the_library_the_figure_says_so_and_tries_again(still, folder, tmp_path):
    (tmp_path / "_static").mkdir()
    shutil.copy(folder / "_static" / "bpelab-figures.js", tmp_path / "_static")
    page = still(MergePlayer(few(), "first"), tmp_path)
    box, before = page.get_by_role("textbox", name="Your own text"), page.locator(".bl-body").inner_html()
    box.fill("second")
    problem = page.locator(".bl-error")
    problem.wait_for()
    assert problem.inner_text() == "The tokenizers can't be loaded from beside this page."
    assert page.locator(".bl-body").inner_html() == before
    shutil.copy(folder / "_static" / "bpelab-library.js", tmp_path / "_static")
    box.fill("third")
    problem.wait_for(state="hidden")
    assert page.locator(".bl-body").inner_html() != before


@pytest.mark.parametrize("name", PATTERNS)
def test_every_published_pattern_can_be_shown(name):
    assert PreTokenView("a", [name]).for_own_text()


def test_what_a_page_can_not_hold_has_no_box():
    ranks = BPETokenizer(BPEModel.from_ranks(tokenizer().model.ids), pattern="gpt2")
    changed = [tokenizer().with_options(**change) for change in ({"normalizer": "NFC"}, {"pattern": None})]
    for figure in (
        *(MergePlayer(own, "a") for own in (ranks, tokenizer().model, *changed)),
        TokenView("a", {"fine": tokenizer(), "not": ranks}),
        StreamBuffer(tokenizer().with_options(decoder=None), "a"),
        PreTokenView("a", {"own": "[a-z]+"}),
    ):
        assert figure.for_own_text() is None and "own_text" not in page_data(figure)
    several = [tokenizer()] * (MOST_IDS // 2000)
    assert own_tokenizers(several) and own_tokenizers(several * 2) is None


def test_an_automaton_that_tells_more_apart_is_refused():
    assert page_automaton(r"\p{L}+") and page_automaton("[ab]") is None and page_automaton("(?<=a)b") is None
