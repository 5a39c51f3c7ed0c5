"""The chapters in the reader's browser: the site that book/lite.py builds, in a real Chromium that reaches nobody."""

import functools
import http.server
import importlib
import json
import re
import sys
import threading

import pytest

from bpelab import figures
from bpelab.errors import MissingDependencyError

from ..conftest import ROOT, amount
from .test_browser import HTML
from .test_notebooks import CHAPTERS

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "book")
    lite = importlib.import_module("lite")


@pytest.fixture
def address():
    """Where the built book is served: browsers start no Python on a page opened from a disk."""
    if not (HTML / "lite" / "notebooks" / "index.html").exists():
        pytest.skip("the book was built without JupyterLite: run `make book` where npm and pip reach their packages")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=HTML)) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def printed(notebook):
    """What the cells print that print the same in every run and need no vocabulary."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and not {"nbval-ignore-output", "tiktoken"} & set(
            cell["metadata"].get("tags", ())
        ):
            yield from ("".join(output["text"]).strip() for output in cell["outputs"] if "text" in output)


@pytest.mark.parametrize("chapter", lite.CHAPTERS[: amount(1, 99)])
def test_a_chapter_runs(chapter, browser, address):
    """From the button on its page: bpelab is imported, trains, encodes, and the first figure (a merge player) plays."""
    context = browser.new_context()
    elsewhere: list[str] = []

    def route(route):
        if route.request.url.startswith(address):
            return route.continue_()
        elsewhere.append(route.request.url)
        return route.abort()

    context.route(re.compile("^https?:"), route)
    tab = context.new_page()
    tab.goto(f"{address}/book/{chapter}.html")
    tab.get_by_role("link", name="Run in your browser").click()
    cells = tab.locator(".jp-CodeCell")
    cells.first.wait_for(timeout=60_000)
    assert tab.locator(".jp-OutputArea-output").count() == 0
    tab.get_by_role("menuitem", name="Run", exact=True).click()
    tab.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    counted = "els => els.length > 5 && els.every(el => /\\[\\d+\\]/.test(el.textContent))"
    prompts = f"({counted})([...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')])"
    tab.wait_for_function(prompts, timeout=amount(240_000, 900_000))
    assert tab.locator('[data-mime-type="application/vnd.jupyter.error"]').count() == 0
    shown = "\n".join(tab.locator(".jp-OutputArea-output").all_inner_texts())
    expected = list(printed(json.loads((ROOT / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8"))))
    assert len(expected) > 3
    for text in expected:
        assert text in shown
    player = tab.locator(".jp-OutputArea-output").filter(has=tab.get_by_role("button", name="Next")).first
    player.locator("input[type=range]").first.fill("0")
    before = player.inner_text()
    player.get_by_role("button", name="Next").click()
    assert player.inner_text() != before
    assert not elsewhere
    context.close()


def test_every_chapter_has_a_button_or_says_what_it_needs(address):
    for path in CHAPTERS:
        html = (HTML / "book" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert html.count('class="run-chapter"') == 1
        assert (f"lite/notebooks/index.html?path={path.name}" in html) == (path.stem in lite.CHAPTERS)


def test_every_chapter_is_listed_once():
    assert sorted([*lite.CHAPTERS, *lite.NEEDS]) == [path.stem for path in CHAPTERS]


def test_a_page_from_a_disk_says_how_to_serve_it(browser, address):
    tab = browser.new_page(viewport={"width": 400, "height": 800})
    tab.goto((HTML / "book" / "00_start.html").as_uri())
    assert "make serve" in tab.locator(".run-chapter").inner_text()
    tab.close()


def test_figures_without_matplotlib(monkeypatch, capsys):
    """In a browser the cell runs on and says where the figure is; elsewhere matplotlib has to be installed."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError):
        figures.pyplot()
    monkeypatch.setattr(sys, "platform", "emscripten")
    plt = figures.pyplot()
    _, axes = plt.subplots(figsize=(1, 1))
    _, panels = plt.subplots(1, 3)
    assert list(zip(axes.barh([1], [2]), panels)) == [] and len(panels) == 3
    axes.spines["left"].set_visible(False)
    assert not hasattr(axes, "_repr_html_") and plt.show() is None
    figures.plot_growth({"a": ([1, 2], [0.1, 0.2])}, "n").legend()
    assert capsys.readouterr().out.count("no matplotlib") == 2
