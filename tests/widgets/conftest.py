"""Pages with a figure, opened from a disk."""

from types import SimpleNamespace

import pytest

from .box import settle


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with what a book has beside its pages."""
    folder = tmp_path_factory.mktemp("pages")
    sphinx = pytest.importorskip("bpelab.widgets.sphinx")
    sphinx.write_assets(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=folder))
    return folder


@pytest.fixture
def show(browser, folder):
    """A function that opens a page with a box from the disk; at the end there must have been no problem."""
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.set_default_timeout(0)

    def show(box, head=""):
        style = '<link rel="stylesheet" href="_static/bpelab-figures.css">'
        script = '<script defer src="_static/bpelab-figures.js"></script>'
        html = f'<!doctype html><meta charset="utf-8">{head}{style}{box.static_html()}{script}'
        (folder / "page.html").write_text(html, encoding="utf-8")
        page.goto((folder / "page.html").as_uri(), wait_until="load")
        settle(page)
        return page

    yield show
    page.close()
    assert problems == []
