"""The figures in a browser: in the pages of a book, from a disk and from a server, and in a running Jupyter.

Every request to another host fails a test, and so does every error on a page's console.
"""

import os
import re
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from bpelab._support.install import install_command

from ..serving import served
from .scratch_book import EMPTY, FIGURES, HOSTILE, build, write_notebook

pytest.importorskip("jupyter_book", reason=f"the book needs jupyter-book: {install_command('book')}")
playwright = pytest.importorskip("playwright.sync_api", reason=f"a browser needs playwright: {install_command('test')}")

pytestmark = pytest.mark.slow

HUNG = 300_000
"""Milliseconds after which a browser hangs, however busy the machine is: it takes one or two seconds."""
OPENS = """([place, last]) => {
    const figure = document.querySelectorAll(".bl")[place];
    const [at, count] = figure.querySelector(".bl-count").textContent.split(" of ").map(Number);
    return last ? at === count : at === 0 || at === Math.ceil(count / 2);
}"""
"""Whether a figure is where it opens: in the middle of what it plays, before the first part that it lists, or, if that
is asked, at the end of the reader's text."""
playwright.expect.set_options(timeout=HUNG)
READ = [
    ".bl-say", ".bl-button", ".bl-count", ".bl-small", ".bl-head", ".bl-token", ".bl-entry", ".bl-entry .bl-small",
    ".bl-remark", ".bl-payload", ".bl-chip", ".bl-table td", ".bl-here td", ".bl-token.bl-new", ".bl-token.bl-made",
    ".bl-legend code", ".bl-detail", ".bl-control", ".bl-forged", ".bl-said", ".bl-id", ".bl-forged .bl-id",
    ".bl-mark", ".bl-missing", ".bl-who", *(f".bl-hue{number}" for number in range(9)),
]  # fmt: skip
PLAYERS = [
    "merge_player",
    "train_scrubber",
    "heap_stepper",
    "trie_walker",
    "transition_point",
    "reachable_tokens",
    "stream_buffer",
    "chat_box",
    "cache_stepper",
    "cluster_stepper",
    "cost_calculator",
    "cover_tree",
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def origins(pages):
    """The book's address on the disk and on a server."""
    with served(pages) as address:
        yield {"file": f"file://{pages}", "server": address}


@pytest.fixture(scope="module")
def opener(browser, origins):
    """Opens a page of the book and returns it with a list of what it should not have asked for or complained about."""
    contexts = []

    def open_page(name="figures", origin="file", **options):
        problems = []

        def guard(route):
            url = route.request.url
            if url.startswith((*origins.values(), "data:", "blob:")):
                route.continue_()
            else:
                problems.append(f"request to {url}")
                route.abort()

        context = browser.new_context(viewport={"width": 1100, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(HUNG)
        page.route("**/*", guard)
        page.on(
            "console", lambda message: message.type == "error" and problems.append(f"{message.text} {message.location}")
        )
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.goto(f"{origins[origin]}/{name}.html", wait_until="load")
        return page, problems

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def visit(opener):
    """Open a page of the book; at the end of the test there must have been no problem."""
    opened = []

    def open_page(*where, **options):
        opened.append(opener(*where, **options))
        return opened[-1][0]

    yield open_page
    for page, problems in opened:
        page.close()
        assert problems == []


@pytest.fixture(scope="module", params=["file", "server"])
def shared_page(opener, request):
    page, problems = opener("figures", request.param)
    return page, problems


def figure_on(page, name):
    return page.locator(f'.bpelab-figure[data-figure="{name}"]').first


def shown(figure):
    """What a reader can see of a figure: its text and which parts are marked how."""
    return figure.locator(".bl-body").evaluate("""body => {
        const parts = [body.querySelector(".bl-say").textContent];
        for (const part of body.querySelectorAll("[class]"))
            if (part.getAttribute("class") && !part.matches("input, .bl-controls *"))
                parts.push(part.getAttribute("class") + "|" + part.textContent);
        return parts.join("\\n");
    }""")


@pytest.mark.parametrize("name", FIGURES)
class TestEveryFigure:
    def test_is_alive_and_steps(self, shared_page, name):
        page, problems = shared_page
        figure = figure_on(page, name)
        assert figure.locator(".bl").is_visible()
        assert not figure.locator(".bpelab-still").is_visible()
        typed = name in ("merge_player", "pre_token_view", "stream_buffer", "token_view", "transition_point")
        assert figure.locator("textarea").count() == typed  # there is no kernel, so only what the page can compute
        slider = figure.get_by_role("slider")
        slider.fill("0")
        first = shown(figure)
        figure.get_by_role("button", name="Next").click()
        second = shown(figure)
        assert second != first
        assert figure.locator(".bl-count").inner_text().startswith("1 of ")
        figure.get_by_role("button", name="Back").click()
        assert shown(figure) == first
        slider.fill(slider.get_attribute("max"))
        last = shown(figure)
        assert last not in (first, second)
        slider.fill("0")
        assert shown(figure) == first
        assert problems == []

    def test_obeys_the_keyboard(self, shared_page, name):
        page, problems = shared_page
        figure = figure_on(page, name)
        page.mouse.move(0, 0)  # where the last test left the pointer, this figure may scroll under it
        figure.get_by_role("slider").fill("0")
        figure.locator(".bl").focus()
        first = shown(figure)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert figure.locator(".bl-count").inner_text().startswith("2 of ")
        page.keyboard.press("End")
        count = figure.get_by_role("slider").get_attribute("max")
        assert figure.locator(".bl-count").inner_text() == f"{count} of {count}"
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("Home")
        assert shown(figure) == first
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")  # past Back, to Play or Next
        assert page.evaluate("document.activeElement.tagName") == "BUTTON"
        figure.get_by_role("slider").focus()
        page.keyboard.press("ArrowRight")  # the slider's own key: one step, not two
        assert figure.locator(".bl-count").inner_text().startswith("1 of ")
        assert problems == []


@pytest.mark.parametrize("name", PLAYERS)
def test_plays_and_pauses(visit, name):
    figure = figure_on(visit(), name)
    figure.locator(".bl").focus()
    figure.page.keyboard.press("Home")
    figure.get_by_role("button", name="Play").click()
    playwright.expect(figure.locator(".bl-count")).to_contain_text("2 of ")
    figure.get_by_role("button", name="Pause").click()
    stopped = figure.locator(".bl-count").inner_text()
    figure.page.wait_for_timeout(1500)
    assert figure.locator(".bl-count").inner_text() == stopped
    assert figure.get_by_role("button", name="Play").is_visible()


def test_the_last_step_is_what_the_still_says(visit):
    page = visit()
    for name in PLAYERS:
        figure = figure_on(page, name)
        figure.locator(".bl").focus()
        page.keyboard.press("End")
        assert figure.locator(".bl-say").text_content() in figure.locator(".bpelab-still").text_content()


def contrast(figure, selector):
    """The contrast of a text with what lies behind it, as WCAG counts it."""
    return figure.locator(selector).first.evaluate("""node => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const behind = [];
        for (let up = node; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
        const paint = (colours) => { canvas.fillStyle = "white"; canvas.fillRect(0, 0, 1, 1);
            for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
            return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
        const light = (rgb) => { const [r, g, b] = rgb.map((c) => c / 255).map((c) =>
            c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const style = getComputedStyle(node);
        const ink = node.namespaceURI.endsWith("svg") ? style.fill : style.color;
        const [dark, bright] = [light(paint([...behind, ink])), light(paint(behind))].sort((a, b) => a - b);
        return (bright + 0.05) / (dark + 0.05);
    }""")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_can_be_read_by_day_and_by_night(visit, scheme):
    page = visit(color_scheme=scheme)
    dark = page.evaluate("document.documentElement.dataset.theme")
    assert dark == scheme
    for name in FIGURES:
        figure = figure_on(page, name)
        figure.get_by_role("slider").fill("0")
        figure.get_by_role("button", name="Next").click()
        for selector in READ:
            if figure.locator(selector).count():
                ratio = contrast(figure, selector)
                assert ratio >= 4.5, (name, selector, ratio)


@pytest.mark.parametrize("page_name", ["figures", "hostile"])
def test_fits_a_phone(visit, page_name):
    page = visit(page_name)
    page.set_viewport_size({"width": 360, "height": 700})
    for figure in page.locator(".bpelab-figure").all():
        slider = figure.locator(".bl-slider")
        if slider.is_visible():
            slider.fill(slider.get_attribute("max"))
        assert figure.locator(".bl").evaluate("node => node.scrollWidth <= node.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_paper_shows_the_still(visit):
    page = visit()
    page.emulate_media(media="print")
    for name in FIGURES:
        figure = figure_on(page, name)
        assert figure.locator(".bpelab-still").is_visible()
        assert not figure.locator(".bl").is_visible()


def test_without_javascript_the_still_stays(visit):
    page = visit(java_script_enabled=False)
    for name in FIGURES:
        assert figure_on(page, name).locator(".bpelab-still").is_visible()


def test_nothing_moves_for_those_who_ask(visit):
    assert "0.25s" in moving(visit(reduced_motion="no-preference"))
    assert moving(visit(reduced_motion="reduce")) == {"0s"}


def moving(page):
    return set(page.evaluate(
        "[...document.querySelectorAll('.bl *')].map((node) => getComputedStyle(node).transitionDuration)"
    ))  # fmt: skip


def test_hostile_and_empty_texts(visit):
    page = visit("hostile")
    assert page.locator(".bpelab-alive .bl").count() == len(HOSTILE) + len(EMPTY)
    for figure in page.locator(".bpelab-figure").all():
        assert figure.locator("img").count() == 0
        slider = figure.locator(".bl-slider")
        if slider.is_visible():
            for step in range(int(slider.get_attribute("max")) + 1):
                slider.fill(str(step))


def test_a_page_without_figures(visit):
    page = visit("index")
    assert page.locator(".bl").count() == 0


def test_a_figure_that_can_not_be_drawn_leaves_its_still(browser, pages):
    page = browser.new_page()
    page.goto(f"file://{pages}/index.html")
    page.set_content(
        '<div class="bpelab-figure" data-figure="token_view"><div class="bpelab-still">still</div>'
        '<script type="application/json">{"panels":3}</script></div>'
    )
    page.add_script_tag(path=pages / "_static" / "bpelab-figures.js")
    assert page.locator(".bpelab-still").is_visible()
    assert page.locator(".bpelab-live").count() == 0
    page.close()


def test_no_widget_state_and_no_code_in_the_pages(pages):
    html = (pages / "figures.html").read_text(encoding="utf-8")
    assert "widget-state" not in html and "widget-view" not in html
    assert html.count('class="bpelab-figure"') == len(FIGURES)
    for block in re.findall(r'<div class="bpelab-figure".*?</script>', html, re.DOTALL):
        assert "function" not in block


@pytest.fixture
def jupyter(tmp_path):
    """A Jupyter server on this machine with one notebook; the address of the notebook in it."""
    pytest.importorskip("jupyterlab", reason=f"a live notebook needs jupyterlab: {install_command('chapters')}")
    figures = ", ".join(FIGURES.values())
    write_notebook(tmp_path / "live.ipynb", "Live", [f"from IPython.display import display\n\ndisplay({figures})"])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    settings = {
        "ServerApp.ip": "127.0.0.1", "ServerApp.port": port, "ServerApp.port_retries": 0, "ServerApp.allow_root": True,
        "ServerApp.root_dir": tmp_path, "IdentityProvider.token": token, "LabApp.extension_manager": "readonly",
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate", "LabApp.news_url": None,
        "LabApp.workspaces_dir": tmp_path / "workspaces", "LabApp.user_settings_dir": tmp_path / "settings",
    }  # fmt: skip
    options = [f"--{name}={value}" for name, value in settings.items()]
    with (tmp_path / "server.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", *options],
            cwd=tmp_path, stdout=log, stderr=log, env={**os.environ, **folders},
        )  # fmt: skip
        try:
            address = f"http://localhost:{port}"
            for _ in range(3_000):
                try:
                    urllib.request.urlopen(f"{address}/api?token={token}").close()
                    break
                except OSError:
                    assert server.poll() is None, (tmp_path / "server.log").read_text()
                    time.sleep(0.2)
            yield address, f"{address}/lab/tree/live.ipynb?token={token}&reset"
        finally:
            server.terminate()
            server.wait(300)


def chat_in_jupyter(figure):
    """Send a message: its answer comes, and is then a part of the figure, to be stepped through."""
    answers = figure.locator(".bl-answer")
    had = answers.count()
    figure.get_by_role("textbox", name="Your message").fill("Hello <b>!")
    figure.get_by_role("button", name="Send").click()
    playwright.expect(answers).to_have_count(had + 1)
    playwright.expect(figure.locator(".bl-turn").nth(2 * had)).to_contain_text("Hello·<b>!")
    playwright.expect(answers.nth(had).locator(".bl-token").first).to_be_visible()
    count = figure.locator(".bl-count")
    playwright.expect(count).to_have_text(re.compile(r"^(\d+) of \1$"))
    figure.get_by_role("button", name="Back").click()
    playwright.expect(figure.locator(".bl-say")).to_contain_text("probability")
    figure.get_by_role("button", name="Stop").click()  # nothing is under way: nothing happens
    figure.page.mouse.move(0, 0)  # the next figure scrolls under the pointer


def test_live_in_jupyter(browser, jupyter):
    """Run the cells, type another text into each figure, and see another figure."""
    address, notebook = jupyter
    problems = []
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(HUNG)
    allowed = (address, address.replace("http", "ws"), "data:", "blob:")
    page.on("request", lambda request: request.url.startswith(allowed) or problems.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(notebook)
    page.locator(".jp-CodeCell .cm-content").first.click()
    playwright.expect(page.get_by_text("(ipykernel) | Idle")).to_be_visible()
    for _ in range(3):  # set up, words, figures
        page.keyboard.press("Shift+Enter")
    playwright.expect(page.locator(".bl-say").nth(len(FIGURES) - 1)).to_be_attached()
    for place, name in enumerate(FIGURES):
        figure = page.locator(".bl").nth(place)
        sentence = figure.locator(".bl-say")
        figure.scroll_into_view_if_needed()
        figure.get_by_role("slider").fill("0")
        before = sentence.text_content()
        figure.get_by_role("button", name="Next").click()
        playwright.expect(sentence).not_to_have_text(before)
        if name == "chat_box":
            chat_in_jupyter(figure)
            continue
        if name == "batch_sizes":  # about numbers, and no text
            continue
        box = figure.get_by_role("textbox", name="Your own text")
        box.fill("harbour harbour")
        page.wait_for_function(OPENS, arg=[place, name == "cover_tree"])
        playwright.expect(sentence).not_to_have_text(before)
        box.fill("")
        playwright.expect(sentence).to_have_text(re.compile("^No text"))

    figure = page.locator(".bl").nth(list(FIGURES).index("merge_player"))
    sentence, box = figure.locator(".bl-say"), figure.get_by_role("textbox", name="Your own text")
    box.fill("harbour")
    playwright.expect(sentence).to_have_text(re.compile("^Merge 3 of 5"))
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"  # the reader types on
    figure.get_by_role("button", name="Next").click()
    playwright.expect(sentence).to_have_text(re.compile("^Merge 4 of 5"))
    box.press("ArrowLeft")  # moves in the text, not in the steps
    playwright.expect(sentence).to_have_text(re.compile("^Merge 4 of 5"))
    box.fill("é" * 150)
    note = "Only the first 200 of 300 bytes are shown."
    playwright.expect(figure.locator(".bl-note")).to_have_text(note)
    page.close()
    assert problems == []
