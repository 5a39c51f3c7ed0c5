"""The pages of solutions say what the chapters and the library say: the task in its words, the answer in its code."""

import importlib

import nbformat
import pytest

from ..conftest import ROOT

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "book")
    make_solutions = importlib.import_module("make_solutions")

CHAPTERS = sorted(path for path in (ROOT / "book").glob("*.ipynb") if make_solutions.questions(path))


def sources(notebook) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def test_each_chapter_with_exercises_has_its_page():
    pages = {path.name for path in (ROOT / "book" / "solutions").glob("*.ipynb")}
    assert pages == {path.name for path in CHAPTERS}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_tasks_and_answers_are_those_of_the_chapter(chapter):
    stored = nbformat.read(ROOT / "book" / "solutions" / chapter.name, 4)
    expected = sources(make_solutions.solutions(chapter))
    assert sources(stored) == expected, "run book/make_solutions.py, and then book/execute.py on this page of solutions"
