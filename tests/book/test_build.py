"""The built pages show the outputs that the notebooks store, nothing is executed for it, and the book can be served."""

import base64
import contextlib
import functools
import html
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from ..conftest import ROOT
from .test_browser import HTML
from .test_notebooks import NOTEBOOKS, cells


def built(path: Path) -> Path:
    """The page of a notebook, or a skip that says how it is made."""
    page = HTML / path.relative_to(ROOT).with_suffix(".html")
    if not page.exists():
        pytest.skip("the book has not been built: run `make book` first")
    return page


def letters(text: str) -> str:
    """The text without what Markdown and browsers treat as layout."""
    return re.sub(r"[\W_]+", "", text)


def visible(page: str) -> str:
    """The letters of a page, without tags."""
    return letters(html.unescape(re.sub(r"<[^>]*>", "", page)))


def plain(markdown: str) -> str:
    """The letters of Markdown: no language of a fence, no target of a link."""
    text = re.sub(r"^```\w*$", "", markdown, flags=re.MULTILINE)
    return letters(re.sub(r"\]\([^)\s]*\)", "]", text))


@functools.cache
def pictures() -> dict[bytes, Path]:
    return {path.read_bytes(): path for path in (HTML / "_images").glob("*.png")}


def stored(path: Path):
    """The outputs of a notebook that its page shows, each as (kind, what was stored)."""
    for cell in cells(path, "code"):
        if "remove-cell" in cell["metadata"].get("tags", ()):
            continue
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                yield "text", "".join(output["text"])
                continue
            kinds = ("text/html", "image/png", "text/markdown", "text/plain")
            kind = next(kind for kind in kinds if kind in output["data"])
            yield kind, "".join(output["data"][kind])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_pages_show_the_stored_outputs(path):
    page = built(path).read_text(encoding="utf-8")
    shown, at = visible(page), 0
    for kind, content in stored(path):
        if kind == "image/png":
            picture = pictures().get(base64.b64decode(content))
            assert picture is not None and picture.name in page
        elif kind == "text/html":
            assert content.strip() in page
        else:  # in the order of the notebook
            text = plain(content) if kind == "text/markdown" else letters(content)
            found = shown.find(text, at)
            assert found >= 0, content
            at = found + len(text)


def test_no_page_shows_an_error():
    for path in NOTEBOOKS:
        assert "Traceback (most recent call last)" not in built(path).read_text(encoding="utf-8"), path


def test_nothing_is_executed():
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert re.search(r'^  execute_notebooks: "off"', settings, re.MULTILINE)
    assert not (ROOT / "_build" / ".jupyter_cache").exists()


@pytest.fixture
def served(tmp_path):
    """Run `serve.py` on a small book; yields its process and the address that it prints, and stops it by Ctrl-C."""
    (tmp_path / "index.html").write_text("<h1>A book</h1>", encoding="utf-8")
    (tmp_path / "python.mjs").write_text("export default 1", encoding="utf-8")
    words = [sys.executable, str(ROOT / "book" / "serve.py"), str(tmp_path)]
    env = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}

    @contextlib.contextmanager
    def serve():
        with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            line, hint = process.stdout.readline(), process.stdout.readline()
            try:
                yield re.search(r"http://localhost:\d+", line)[0]
            finally:
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate()
        assert "open this address" in hint
        assert (process.returncode, errors) == (0, "")

    return serve


@pytest.mark.skipif(sys.platform == "win32", reason="ends the server by a signal that Windows does not have")
def test_it_is_served_at_a_free_port(served):
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody else has it: as good
            taken.bind(("127.0.0.1", 8000))
            taken.listen()
        with served() as first, served() as second:
            assert len({first, second, "http://localhost:8000"}) == 3
            for address in (first, second):
                with urllib.request.urlopen(address) as page:
                    assert page.read() == b"<h1>A book</h1>"
            with urllib.request.urlopen(f"{first}/python.mjs") as script:
                assert script.headers["Content-Type"] == "text/javascript"


@pytest.mark.skipif(os.name != "posix" or sys.platform == "darwin", reason="a browser is found in another way there")
def test_the_browser_is_opened_where_there_is_one(tmp_path):
    (tmp_path / "opened").write_text("")
    (tmp_path / "browser").write_text(f'#!/bin/sh\necho "$1" > "{tmp_path}/opened"\n')
    (tmp_path / "browser").chmod(0o755)
    asked = "import serve; print(serve.open_browser('http://localhost:1'))"
    env = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    env |= {"BROWSER": f"{tmp_path}/browser", "PYTHONPATH": str(ROOT / "book")}
    for display, answer in ({}, "False\n"), ({"DISPLAY": ":9"}, "True\n"):
        done = subprocess.run(
            [sys.executable, "-c", asked], env=env | display, capture_output=True, text=True, check=True
        )
        assert done.stdout == answer
    assert (tmp_path / "opened").read_text() == "http://localhost:1\n"


def test_serving_what_was_not_built_says_what_to_do(tmp_path):
    words = [sys.executable, str(ROOT / "book" / "serve.py"), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "make book" in done.stderr


def test_the_environment_of_a_build_is_small():
    """What runs chapters, and not pages, is in no need of `make book`."""
    listed = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    book = re.search(r"^book = \[(.*?)^\]", listed, re.MULTILINE | re.DOTALL)[1]
    for name in ("transformers", "matplotlib", "pyarrow", "torch", 'jupyterlab"', "dask", "tiktoken"):
        assert name not in book


def test_an_icon_for_pages_that_name_none():
    """Browsers ask the root of the server for it: the page that leads into the book has none of its own."""
    if not HTML.exists():
        pytest.skip("the book has not been built: run `make book` first")
    assert (HTML / "favicon.ico").read_bytes() == (ROOT / "book" / "root" / "favicon.ico").read_bytes()
