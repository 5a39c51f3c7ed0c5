"""The first page, as built: what it says below the box is what the box shows; no page is large before it is asked."""

import re

import pytest

from bpelab._support.install import install_command

from ..widgets.box import Side, fill, settle
from .test_browser import HTML, PAGES

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets.base import TOKENIZING
from bpelab.widgets.sphinx import LIBRARY, SCRIPT, STYLE, WEIGHTS

INDEX = HTML / "book" / "index.html"
HINDI = "आप आज कैसे हैं?"


@pytest.fixture(scope="module")
def opened(browser):
    if not INDEX.exists():
        pytest.skip("the book has not been built: run `make book` first")
    page = browser.new_page()
    page.set_default_timeout(0)
    yield page
    page.close()


@pytest.fixture
def page(opened):
    opened.goto(INDEX.as_uri(), wait_until="load")
    settle(opened)
    return opened


def said(page, question: str) -> str:
    """The item of the list that answers a question, with its line ends as spaces."""
    return " ".join(page.locator("li", has_text=question).inner_text().split())


def test_the_end_of_a_word_is_one_token(page):
    assert "in the box, the end of strawberry is one token, erry." in said(page, "Why does the model miscount letters?")
    tokens = Side(page).flow.locator(".bl-token").all_inner_texts()
    at = tokens.index("erry")
    assert "".join(tokens[at - 4 : at + 1]).replace("·", " ") == " strawberry"
    assert len(Side(page).listed()) == len(tokens)


def test_hindi_costs_what_the_page_says(page):
    answer = said(page, "Hindi users")
    numbers = re.search(r"has (\d+) tokens\. .* in Hindi has (\d+), or (\d+) with the second vocabulary", answer)
    english, hindi, mixed = map(int, numbers.groups())
    assert hindi >= 3 * english and "three times as much" in answer
    assert f"How are you today? {HINDI}" in page.get_by_label("Text to encode").input_value()
    side = Side(page)
    fill(page, "How are you today?")
    assert len(side.listed()) == english
    fill(page, HINDI)
    assert len(side.listed()) == hindi
    titles = side.node.get_by_role("option").all_inner_texts()
    side.choose(titles[1])
    assert "languages" in titles[1] and len(side.listed()) == mixed


def test_an_attack_is_one_token_of_ten_characters(page):
    question = said(page, "Why did the model stop when a user wrote")
    assert "turned those ten characters into one token" in question and len("<|im_end|>") == 10
    fill(page, "mine")
    button = page.get_by_role("button", name=re.search(r"Press ([\w ]+)\.", question)[1])
    button.click()
    settle(page)
    careless, safe = page.locator("[aria-live] .bl-two > div").all()
    ends = [one for one in careless.locator(".bl-token").all_inner_texts() if one.startswith("<|im_end|>")]
    assert len(ends) == 1 and careless.locator(".bl-forged").count() == 2
    shown = "".join(safe.locator(".bl-token").all_inner_texts())
    assert safe.locator(".bl-forged").count() == 0 and shown.count("<|im_end|>") == 1
    button.click()
    settle(page)
    assert page.get_by_label("Text to encode").input_value() == "mine"


def test_addresses_are_named_before_they_are_asked(page):
    asked, side = [], Side(page)
    page.on("request", lambda request: request.url.startswith("http") and asked.append(request.url))
    group = side.node.locator("optgroup[label^=Published] option")
    assert group.count() == 6
    for title in group.all_inner_texts():
        side.choose(title)
        assert re.search(r"https://\S+", side.node.locator(".bl-offer code").inner_text())
    assert asked == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_page_is_large_before_it_is_asked(path):
    """The page, and what its figures load by themselves: not the theme, and not the weights of the model."""
    html = path.read_text(encoding="utf-8")
    tokenizes = any(f'data-figure="{name}"' in html for name in TOKENIZING)
    scripts = (SCRIPT, STYLE, *([LIBRARY] if tokenizes else []))
    assert len(html.encode()) + sum((HTML / "_static" / name).stat().st_size for name in scripts) < 1_500_000


def test_the_box_loads_what_it_needs_and_no_more(opened, browser):
    tab, files = browser.new_page(), []
    tab.on("request", lambda request: files.append(request.url.rpartition("/")[2].partition("?")[0]))
    tab.goto(INDEX.as_uri(), wait_until="load")
    settle(tab)
    tab.close()
    assert {SCRIPT, LIBRARY} <= set(files) and WEIGHTS not in files


def test_the_model_is_asked_and_what_is_right_is_said(page):
    page.get_by_role("button", name="Ask it").click()
    answer = page.locator(".bl-ask .bl-say")
    answer.get_by_text("There are 3. Of “strawberry” the model was given").wait_for()
