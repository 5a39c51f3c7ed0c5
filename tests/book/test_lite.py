"""The chapters in the reader's browser: the site that book/lite.py builds, in a real Chromium that reaches nobody."""

import ast
import contextlib
import importlib
import re
import sys

import pytest

from bpelab.errors import MissingDependencyError
from bpelab.notebook import plotting

from ..conftest import ROOT, amount
from ..serving import served
from .test_browser import HTML

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "book")
    lite = importlib.import_module("lite")


@pytest.fixture
def address():
    """Where the built book is served: browsers start no Python on a page opened from a disk."""
    if not (HTML / "lite" / "notebooks" / "index.html").exists():
        pytest.skip("the book was built without JupyterLite: run `make book` where npm and pip reach their packages")
    with served(HTML) as at:
        yield at


def printed(chapter):
    """What the cells print that run there, print the same in every run and need no vocabulary."""
    for cell in lite.read_cells(chapter):
        if not {"nbval-ignore-output", "tiktoken"} & set(cell["metadata"].get("tags", ())) and not lite.lacking(cell):
            yield from ("".join(output["text"]).strip() for output in cell["outputs"] if "text" in output)


@pytest.fixture
def opened(browser, address):
    """Opens a chapter from the button on its page. No request goes to another host."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    elsewhere: list[str] = []

    def route(route):
        if route.request.url.startswith(address):
            return route.continue_()
        elsewhere.append(route.request.url)
        return route.abort()

    def opening(chapter):
        tab = context.new_page()
        tab.goto(f"{address}/book/{chapter}.html")
        tab.get_by_role("link", name="Run in your browser").click()
        tab.locator(".jp-CodeCell").first.wait_for(timeout=120_000)
        assert tab.locator(".jp-OutputArea-output").count() == 0
        return tab

    context.route(re.compile("^https?:"), route)
    yield opening
    context.close()
    assert not elsewhere


def run(tab, start):
    """`start` until a cell runs: what a kernel is asked while it is still connecting may be lost.

    Or a dialog asks which kernel is meant, over the page; its button takes the one that is there.
    """
    from playwright.sync_api import TimeoutError as TooLong

    prompts = "[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
    for _ in range(amount(24, 90)):
        with contextlib.suppress(TooLong):
            for button in tab.locator(".jp-Dialog .jp-mod-accept").all():
                button.click(timeout=10_000)
            start()
            tab.wait_for_function(f"{prompts}.some(el => /\\[[\\d*]+\\]/.test(el.textContent))", timeout=10_000)
            return
    pytest.fail("the kernel takes no cell")


FIGURE = '.jp-OutputArea-output:has([class*="bl-"])'
PLAYER = ".jp-OutputArea-output:has(input.bl-slider)"


def figures_of(chapter):
    """The kinds of the interactive figures that run in a browser."""
    for cell in lite.read_cells(chapter):
        if not lite.lacking(cell):
            for output in cell["outputs"]:
                yield from re.findall(r'data-figure="(\w+)"', "".join(output.get("data", {}).get("text/html", "")))


def steps(player):
    """A figure with buttons is seen, goes on by a click, and goes back."""
    player.scroll_into_view_if_needed()
    assert player.is_visible()
    player.locator("input[type=range]").first.fill("0")
    before = player.inner_text()
    player.get_by_role("button", name="Next").click()
    assert player.inner_text() != before
    player.get_by_role("button", name="Back", exact=True).click()
    assert player.inner_text() == before


def failures(tab):
    """The errors that cells ended with, which JupyterLab shows as what was printed on stderr."""
    shown = tab.locator('[data-mime-type="application/vnd.jupyter.stderr"]').all_inner_texts()
    return [text for text in shown if "Traceback (most recent call last)" in text]


@pytest.mark.slow
@pytest.mark.parametrize("chapter", lite.CHAPTERS[: amount(1, 99)])
def test_a_chapter_runs(chapter, opened):
    """All cells; they print what the page shows, and the figures with buttons play."""
    tab = opened(chapter)

    def run_all():
        tab.get_by_role("menuitem", name="Run", exact=True).click()
        tab.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    run(tab, run_all)
    counted = "els => els.length > 5 && els.every(el => /\\[\\d+\\]/.test(el.textContent))"
    prompts = f"({counted})([...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')])"
    tab.wait_for_function(prompts, timeout=amount(240_000, 900_000))
    assert failures(tab) == []
    shown = "\n".join(tab.locator(".jp-OutputArea-output").all_inner_texts())
    expected = list(printed(chapter))
    assert len(expected) > 2
    for text in expected:
        assert text in shown
    kinds = list(figures_of(chapter))
    assert tab.locator(FIGURE).count() == len(kinds) > 0
    players = tab.locator(PLAYER)
    assert players.count() == len(kinds)
    for number in range(players.count()):
        steps(players.nth(number))


def run_code(tab, code):
    """Put code in place of the first cell's and run it; returns the cell."""
    cell = tab.locator(".jp-CodeCell").first

    def type_and_run():
        cell.locator(".cm-content").click()
        tab.keyboard.press("ControlOrMeta+a")
        tab.keyboard.insert_text(code)
        tab.keyboard.press("Shift+Enter")

    run(tab, type_and_run)
    return cell


OWN = """\
from bpelab import BPETokenizer
from bpelab.widgets import MergePlayer
mine = BPETokenizer.train("low lower lowest newer newest " * 20, vocab_size=266, progress=False)
print("ids", mine.encode("lowest newcomer"), repr(mine.decode(mine.encode("naïve 日本"))))
MergePlayer(mine, "lowest")"""


@pytest.mark.slow
def test_own_code(opened):
    """A reader empties a cell and writes: bpelab is imported, trains, encodes, and shows a merge player that plays."""
    cell = run_code(opened("start"), OWN)
    cell.locator(PLAYER).wait_for(timeout=amount(240_000, 900_000))
    scope = {}
    exec(OWN.partition("\nMergePlayer")[0], scope)
    mine = scope["mine"]
    assert f"ids {mine.encode('lowest newcomer')} 'naïve 日本'" in cell.inner_text()
    steps(cell.locator(PLAYER))


FAILING = "1 / 0"
KEPT = """\
def decode(vocab, ids):
    tokens = {token_id: token for token, token_id in vocab.items()}
    return b"".join(tokens[token_id] for token_id in ids).decode("utf-8", "replace")  # mine
from bpelab.exercises import check
print(repr(check("bytes.6", decode)), "END")"""
READ = """\
import inspect
from bpelab.exercises import my_tokenizer
mine = my_tokenizer("tiktoken")
own = mine.Tokenizer.train("low lower lowest " * 20, 260, r" ?\\p{L}+")
print("# mine" in inspect.getsource(mine.decode), own.decode(own.encode("slow")), "END")"""


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_the_readers_file_is_kept_between_chapters(opened):
    """An answer that is right on one page is the reader's own on the next, where the class runs without `regex`."""
    seen = []
    for chapter, code in (("bytes", FAILING), ("bytes", KEPT), ("special_tokens", READ)):
        tab = opened(chapter)
        output = run_code(tab, code).locator(".jp-OutputArea-output")
        output.filter(has_text=re.compile("END|Error")).first.wait_for(timeout=amount(240_000, 900_000))
        seen.append((failures(tab), "\n".join(output.all_inner_texts())))
        tab.wait_for_timeout(3_000)  # until the browser has stored the file
        tab.close()
    assert len(seen[0][0]) == 1 and "ZeroDivisionError" in seen[0][0][0]
    assert seen[1][0] == seen[2][0] == []
    assert "Right." in seen[1][1] and "`my_tokenizer.py` has decode, and runs." in seen[1][1]
    assert "True slow END" in seen[2][1]


GPT_4 = """\
from bpelab.exercises import my_tokenizer
from bpelab.notebook import published_ranks
from bpelab.regex.patterns import PATTERNS
own = my_tokenizer("tiktoken").Tokenizer(published_ranks("cl100k_base"), PATTERNS["cl100k"].regex)
print(own.encode("My own code has GPT-4's ids."), "END")"""


@pytest.mark.slow
def test_gpt_4s_ids_in_a_browser(opened):
    """The reader's class with the vocabulary that comes with the page: the ids are tiktoken's, and nobody is asked."""
    output = run_code(opened("tiktoken"), GPT_4).locator(".jp-OutputArea-output")
    output.filter(has_text=re.compile("END|Error")).first.wait_for(timeout=amount(240_000, 900_000))
    assert "[5159, 1866, 2082, 706, 480, 2898, 12, 19, 596, 14483, 13] END" in "\n".join(output.all_inner_texts())


def test_cells_left_out():
    """In a browser's copy a cell that needs what is not there is a comment that says what; the others are untouched."""
    for chapter in lite.CHAPTERS:
        for cell in lite.read_cells(chapter):
            names, source = lite.lacking(cell), "".join(cell["source"])
            lite.for_browsers(cell)
            assert cell["outputs"] == []
            if names:
                assert names[0] in cell["source"] and ast.parse(cell["source"]).body == []
                assert source.splitlines()[-1] in cell["source"]
            else:
                assert "".join(cell["source"]) == source


PAGES = sorted((ROOT / "book").glob("*.ipynb"))


def test_every_chapter_has_a_button_or_says_what_it_needs(address):
    for path in PAGES:
        html = (HTML / "book" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert html.count('class="run-chapter"') == 1
        assert (f"lite/notebooks/index.html?path={path.name}" in html) == (path.stem in lite.CHAPTERS)


def test_every_chapter_is_listed_once():
    assert sorted([*lite.CHAPTERS, *lite.NEEDS]) == [path.stem for path in PAGES]


@pytest.mark.slow
def test_a_page_from_a_disk_says_how_to_serve_it(browser, address):
    tab = browser.new_page(viewport={"width": 400, "height": 800})
    tab.goto((HTML / "book" / "start.html").as_uri())
    assert "make serve" in tab.locator(".run-chapter").inner_text()
    tab.close()


def test_figures_without_matplotlib(monkeypatch, capsys):
    """In a browser the cell runs on and says where the figure is; elsewhere matplotlib has to be installed."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError):
        plotting.pyplot()
    monkeypatch.setattr(sys, "platform", "emscripten")
    plt = plotting.pyplot()
    _, axes = plt.subplots(figsize=(1, 1))
    _, panels = plt.subplots(1, 3)
    assert list(zip(axes.barh([1], [2]), panels)) == [] and len(panels) == 3
    axes.spines["left"].set_visible(False)
    assert not hasattr(axes, "_repr_html_") and plt.show() is None
    plotting.plot_growth({"a": ([1, 2], [0.1, 0.2])}, "n").legend()
    assert capsys.readouterr().out.count("no matplotlib") == 2
