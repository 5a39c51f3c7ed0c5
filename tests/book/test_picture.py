"""README's picture is the page's figure: at every step the same words."""

import pytest

from ..conftest import ROOT
from ..test_tools import tool

TOOL = tool("readme_picture")
DRAWN = TOOL.PICTURE.read_text(encoding="utf-8")


def test_its_words_are_those_of_the_page(browser):
    if not TOOL.HTML.exists():
        pytest.skip("the book has not been built: run `make book` first")
    tab = browser.new_page(color_scheme="light")
    tab.goto(TOOL.HTML.as_uri(), wait_until="load")
    figure = tab.locator(TOOL.FIGURE).first
    slider = figure.locator("input[type=range]")
    visible = (
        "nodes => nodes.filter(node => getComputedStyle(node).visibility !== 'hidden').map(node => node.textContent)"
    )
    page = []
    for step in range(int(slider.get_attribute("max")) + 1):
        slider.fill(str(step))
        shown = figure.locator("svg text").evaluate_all(visible)
        page.append(sorted([*shown, figure.locator(".bl-say").inner_text()]))
    tab.close()
    assert TOOL.words(DRAWN) == page, "run `make picture`"


def test_it_is_small_and_readme_shows_it():
    assert len(DRAWN.encode()) < 60_000
    assert f"]({TOOL.PICTURE.relative_to(ROOT).as_posix()})" in (ROOT / "README.md").read_text("utf-8")


def test_it_plays_each_step_and_rests_at_the_last():
    """Without motion: what is drawn, and not hidden, are the words of the last step."""
    all_words = TOOL.words(DRAWN)
    assert len(all_words) > 8 and all(before != after for before, after in zip(all_words, all_words[1:]))
    last = f"-{len(all_words) - 1}"
    groups = [line for line in DRAWN.splitlines() if line.startswith('<g class="s')]
    assert all((' visibility="hidden"' in group) != (last in group.partition(">")[0]) for group in groups)
    assert DRAWN.count("@keyframes") == len({group.split('"')[1] for group in groups})


def test_a_step_that_the_page_has_not_is_found():
    """The comparison of words sees a token that is another, and a step that is missing."""
    other = DRAWN.replace("1 of ", "2 of ", 1)
    assert TOOL.words(other) != TOOL.words(DRAWN)
