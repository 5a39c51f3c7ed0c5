"""The built book in a real browser: no console error, no request to another host, no dead link, light and dark."""

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlparse

import pytest

from ..conftest import ROOT, amount

HTML = ROOT / "_build" / "html"
PAGES = sorted(path for path in HTML.glob("book/**/*.html") if not path.stem[0].isdigit())  # those have moved
THEMES = ["light", pytest.param("dark", marks=pytest.mark.slow)]
CHAPTERS = [
    pytest.param(path, marks=[pytest.mark.slow] if path.parent.name == "solutions" else [], id=path.stem)
    for path in PAGES
]


@pytest.fixture(autouse=True)
def built():
    if not PAGES:
        pytest.skip("the book has not been built: run `make book` first")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", CHAPTERS)
def test_page(page, theme, browser):
    tab = browser.new_page(color_scheme=theme)
    problems: list[str] = []
    tab.on("console", lambda message: message.type in ("error", "warning") and problems.append(message.text))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("request", lambda request: re.match("https?:", request.url) and problems.append(request.url))
    tab.goto(page.as_uri(), wait_until="load")
    assert tab.evaluate("document.documentElement.dataset.theme") == theme
    assert tab.locator("article h1").count() == 1
    background = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == (theme == "dark")
    tab.close()
    assert not problems


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_links(page):
    """Every link within the book leads to a page, and to a place on it, that is there."""
    html = page.read_text(encoding="utf-8")
    for target in re.findall(r'(?:href|src)="([^"]+)"', html):
        if urlparse(target).scheme or target.startswith("#top"):
            continue
        address, anchor = urldefrag(urljoin(page.as_uri(), target))
        path = Path(unquote(urlparse(address).path))
        assert path.exists(), target
        if anchor and path.suffix == ".html":
            assert f'id="{unquote(anchor)}"' in path.read_text(encoding="utf-8"), target


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_tables_are_drawn(page):
    """Those of outputs, too: what stays a paragraph begins with a bar."""
    assert not re.findall(r"<p>\| .*", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_is_light_enough(page):
    assert page.stat().st_size < 1_500_000


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "book"], ids=lambda path: path.stem)
def test_worked_answers_are_folded_under_their_exercises(page):
    html = page.read_text(encoding="utf-8")
    asked = re.findall(r"<strong>Exercise (\w+\.\d+) \(", html)
    parts = re.split(r"<strong>Exercise \w+\.\d+ \(", html)[1:]
    assert [part.count('<details class="answer solution">') for part in parts] == [1] * len(asked)


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "book"], ids=lambda path: path.stem)
def test_an_exercise_stands_in_a_frame_that_says_its_level(page, browser):
    """From the question to the worked answer, and nothing else: a heading or another exercise isn't in it."""
    html = page.read_text(encoding="utf-8")
    asked = re.findall(r"<strong>Exercise (\w+\.\d+) \(.*?</strong> <em>(\w+)\.</em>", html)
    tab = browser.new_page(java_script_enabled=False)
    tab.goto(page.as_uri())
    frames = tab.locator(".exercise[role=group]")
    labels = frames.evaluate_all("frames => frames.map(frame => frame.getAttribute('aria-label'))")
    assert labels == [f"Exercise {name}, {level.lower()}" for name, level in asked]
    held = "frames => frames.map(frame => frame.querySelectorAll('details.solution, h2, h3').length)"
    assert frames.evaluate_all(held) == [1] * len(asked)
    tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES[: amount(1, len(THEMES))])
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_figures_respond(page, theme, browser):
    """Every figure that has steps: going forward changes what is shown, going back to the start restores it.

    A theme changes colours alone, which tests/widgets/test_browser.py reads in both.
    """
    if page.parent.name == "solutions" or 'class="bpelab-figure"' not in page.read_text(encoding="utf-8"):
        pytest.skip("there is no figure on this page")
    tab = browser.new_page(color_scheme=theme)
    tab.goto(page.as_uri(), wait_until="load")
    figures = tab.locator(".bpelab-figure")
    for number in range(figures.count()):
        figure = figures.nth(number)
        assert figure.locator(":not(.bpelab-still) > *").count() > 0
        slider = figure.locator("input[type=range]")
        if slider.count() and slider.first.is_visible():  # a figure without steps hides it
            slider.first.fill("0")
            before = figure.inner_text()
            figure.get_by_role("button", name="Next").click()
            assert figure.inner_text() != before
            slider.first.fill("0")
            assert figure.inner_text() == before
    tab.close()


def test_old_addresses_lead_on(browser):
    moved = sorted(HTML.glob("book/**/[0-9]*.html"))
    assert len(moved) == 2 * 19
    for page in moved:
        (target,) = set(re.findall(r'"(\w+\.html)"', page.read_text(encoding="utf-8")))
        assert (page.parent / target).exists(), page
    tab = browser.new_page()
    tab.goto((HTML / "book" / "11_compiled.html").as_uri() + "#exercises", wait_until="load")
    tab.wait_for_url("**/book/native.html#exercises")
    assert tab.locator("#exercises").count() == 1
    tab.goto((HTML / "book" / "claims.html").as_uri() + "#ties", wait_until="load")
    tab.wait_for_url("**/book/claims_evidence.html#ties")
    assert tab.locator("#ties").count() == 1
    tab.goto((HTML / "book" / "chat.html").as_uri() + "#what-the-cache-saves", wait_until="load")
    tab.wait_for_url("**/book/model_answers.html#what-the-cache-saves")
    tab.goto((HTML / "book" / "claims.html").as_uri() + "#token-healing", wait_until="load")
    assert tab.locator("#token-healing").count() == 1
    tab.close()


def test_what_scrolls_sideways_fades_out_at_the_edge_that_hides_something(browser):
    """The first table of numbers on a page, on a wide screen and on a telephone."""
    tab = browser.new_page()
    tab.goto((HTML / "book" / "corpus_cost.html").as_uri(), wait_until="load")
    faded = """([place, left, right]) => {
        const table = document.querySelector(".cell_output table"), style = getComputedStyle(table);
        table.scrollLeft = place;
        return style.getPropertyValue("--fade-left") === left && style.getPropertyValue("--fade-right") === right;
    }"""
    for width, place, *edges in (1280, 0, "0px", "0px"), (400, 0, "0px", "48px"), (400, 9_999, "48px", "0px"):
        tab.set_viewport_size({"width": width, "height": 800})
        tab.wait_for_function(faded, arg=[place, *edges])
    tab.close()


def test_no_row_of_the_table_of_claims_is_hidden_by_a_scroll_box(browser):
    tab = browser.new_page()
    tab.goto((HTML / "book" / "claims.html").as_uri(), wait_until="load")
    table = tab.locator(".bl-claims")
    assert table.locator("tbody tr").count() == 35
    assert table.evaluate("table => getComputedStyle(table).overflowY") == "visible"
    tab.close()
