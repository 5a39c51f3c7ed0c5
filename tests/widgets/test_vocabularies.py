"""The vocabularies of the box: a reader's own files, and published ones, which the browser keeps."""

import http.server
import threading
from contextlib import contextmanager

import pytest

from bpelab import BPETokenizer
from bpelab._support.install import install_command
from bpelab.data import FOLDER
from bpelab.notebook import book_text

pytest.importorskip("anywidget", reason=f"interactive figures need anywidget: {install_command('chapters')}")

from bpelab.widgets import Playground
from bpelab.widgets.base import front_end

from .box import Side, fill, settle, tokenizer

pytestmark = pytest.mark.slow

TINY = FOLDER / "tiny_chat" / "tokenizer.json"
TEXT = "the lamplighter’s café, 日本 <|im_end|>"


@contextmanager
def stand_in(content: bytes):
    """A server in place of the one that publishes a vocabulary: its address, and the paths that were asked for."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200 if "missing" not in self.path else 404)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}", asked
        server.shutdown()


def requests(page) -> list[str]:
    """The addresses that a page asks for from now on."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def test_a_file_of_ones_own(show, tmp_path):
    own, page = BPETokenizer.from_pretrained(TINY), show(Playground(TEXT, {"one": tokenizer()}))
    asked, chooser, side = requests(page), page.locator("input[type=file]"), Side(page)
    chooser.set_input_files(TINY)
    page.get_by_text("tokenizer.json is open, in this page only.").wait_for()
    settle(page)
    assert side.listed() == own.encode(TEXT, add_special_tokens=False)
    broken = tmp_path / "broken.json"
    broken.write_text('{"model": {"type": "Unigram"}}')
    chooser.set_input_files(broken)
    page.get_by_text("broken.json: The model is Unigram; only BPE is served.").wait_for()
    assert side.listed() == own.encode(TEXT, add_special_tokens=False), "what was open stays"
    side.choose("one")
    assert side.listed() == tokenizer().encode(TEXT)
    assert [url for url in asked if not url.startswith("blob:")] == []


def test_a_file_is_dropped_beside_another(show):
    page = show(Playground(TEXT, {"one": tokenizer()}))
    page.get_by_role("button", name="Compare two vocabularies").click()
    settle(page)
    handle = page.evaluate_handle(
        """(content) => {
            const data = new DataTransfer();
            data.items.add(new File([content], "tiny.json"));
            return data;
        }""",
        TINY.read_text(encoding="utf-8"),
    )
    page.locator(".bl").dispatch_event("drop", {"dataTransfer": handle})
    page.get_by_text("tiny.json is open, in this page only.").wait_for()
    settle(page)
    counts = len(tokenizer().encode(TEXT)), len(Side(page, 1).listed())
    assert counts[1] == len(BPETokenizer.from_pretrained(TINY).encode(TEXT, add_special_tokens=False))
    said = page.locator(".bl-comparison p").inner_text()
    assert f"{abs(counts[0] - counts[1])} token" in said and f"{max(counts) / min(counts):.2f} times as many" in said
    page.get_by_label("Price of a million tokens").fill("2.5")
    costs = [f"{2.5 * count:,g}" for count in sorted(counts)]
    assert f"cost {costs[1]} instead of {costs[0]}." in page.locator(".bl-comparison p").inner_text()


def test_a_published_one_is_fetched_when_asked_for_and_kept(show):
    own = BPETokenizer.from_pretrained(TINY)
    with stand_in(TINY.read_bytes()) as (server, asked):
        box = Playground(
            TEXT, {"one": tokenizer()}, published={"Tiny": f"{server}/tiny.json", "None": f"{server}/missing"}
        )
        page = show(box)
        side = Side(page)
        side.choose("Tiny")
        assert f"{server}/tiny.json" in side.node.locator(".bl-offer").inner_text() and asked == []
        assert not side.flow.is_visible()
        page.get_by_role("button", name="Fetch it from localhost").click()
        page.get_by_text("Tiny is here.").wait_for()
        settle(page)
        assert side.listed() == own.encode(TEXT, add_special_tokens=False) and asked == ["/tiny.json"]
        side.choose("None")
        page.get_by_role("button", name="Fetch it from localhost").click()
        page.get_by_text("None can't be fetched: the server says 404").wait_for()
        page.reload()
        settle(page)
        side.choose("Tiny")
        assert side.listed() == own.encode(TEXT, add_special_tokens=False) and asked == ["/tiny.json", "/missing"]
    side.choose("None")
    page.get_by_role("button", name="Fetch it from localhost").click()
    page.get_by_text("Without a network, open a file that you have.").wait_for()
    side.choose("one")
    assert side.listed() == tokenizer().encode(TEXT)


def test_a_text_is_passed_on_after_the_hash(show):
    few = BPETokenizer.train(book_text()[:20_000], 300)
    page = show(Playground("low", {"many": tokenizer(), "few": few}))
    Side(page).choose("few")
    page.get_by_role("button", name="Compare two vocabularies").click()
    Side(page, 1).choose("many")
    text = "a b&c=d #e\n日本 100%+"
    fill(page, text)
    page.get_by_role("button", name="Link to this text").click()
    page.get_by_text("The address of this page holds the text").wait_for()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    settle(page)
    assert page.get_by_label("Text to encode").input_value() == text
    assert Side(page).listed() == few.encode(text) and Side(page, 1).listed() == tokenizer().encode(text)
    fill(page, "x" * 10_000)
    page.get_by_role("button", name="Link to this text").click()
    page.get_by_text("The text is too long for an address.").wait_for()
    assert page.url == address


def test_a_pasted_book_is_encoded_in_a_worker(show):
    page, text = show(Playground("low", {"many": tokenizer()})), book_text() * 2
    assert len(page.workers) == 1
    page.get_by_label("Text to encode").evaluate(
        "(area, text) => { area.value = text; area.dispatchEvent(new Event('input')); }", text
    )
    settle(page)
    side, ids = Side(page), tokenizer().encode(text)
    assert side.say.inner_text().startswith(f"{len(ids):,} tokens for {len(text.encode()):,} bytes")
    assert side.listed() == ids[:1000]
    assert side.node.get_by_text("The first 1,000 tokens are drawn, and all are counted.").is_visible()
    assert not side.node.get_by_role("slider").is_visible()


NO_WORKERS = {
    "there are none": "<script>delete globalThis.Worker;</script>",
    "none may begin": "<meta http-equiv=Content-Security-Policy content=\"worker-src 'none'\">",
}


@pytest.mark.parametrize("head", NO_WORKERS.values(), ids=NO_WORKERS)
def test_without_workers_the_page_encodes_itself(head, show):
    page = show(Playground(TEXT, {"one": tokenizer()}), head)
    assert page.workers == [] and Side(page).listed() == tokenizer().encode(TEXT)


def test_in_a_notebook(browser):
    """There a figure is a module, which gets its data from a kernel."""
    page, box = browser.new_page(), Playground(TEXT, {"one": tokenizer()})
    page.set_content("<!doctype html><div id=cell></div>")
    page.evaluate(
        """async ([code, data]) => {
            const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
            const { default: figure } = await import(url), state = { data, text: "", live: true, error: "" };
            const model = { get: (name) => state[name], set() {}, on() {}, off() {}, save_changes() {}, send() {} };
            globalThis.end = figure.render({ model, el: document.getElementById("cell") });
        }""",
        [front_end("playground"), box.data],
    )
    settle(page)
    assert Side(page).listed() == tokenizer().encode(TEXT)
    assert not page.get_by_role("button", name="Link to this text").is_visible()
    page.evaluate("end()")
    page.close()


def test_without_the_library_the_still_stays(browser, folder, tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "bpelab-figures.js").write_bytes((folder / "_static" / "bpelab-figures.js").read_bytes())
    html = Playground("low", {"one": tokenizer()}).static_html()
    script = '<script defer src="_static/bpelab-figures.js"></script>'
    (tmp_path / "page.html").write_text(f'<!doctype html><meta charset="utf-8">{html}{script}', encoding="utf-8")
    page = browser.new_page()
    with page.expect_console_message(lambda said: "can't be loaded from beside this page" in said.text, timeout=0):
        page.goto((tmp_path / "page.html").as_uri(), wait_until="load")
    assert page.locator(".bpelab-still").is_visible() and page.locator(".bl").count() == 0
    page.close()
