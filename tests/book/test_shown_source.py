"""Source that a page prints stands alone: it fits on a screen, and the page explains its private helpers."""

import ast
import re
import textwrap

import pytest

from .test_notebooks import NOTEBOOKS, cells, prose, source

MOST_LINES = 25  # of a function without its docstring


def shown_sources(path) -> list[str]:
    """The functions and classes that `show_source` printed on a page, from its stored outputs."""
    printed = []
    for cell in cells(path, "code"):
        if re.search(r"\bshow_source\(", source(cell)):
            stored = ["".join(output.get("data", {}).get("text/markdown", "")) for output in cell["outputs"]]
            blocks = re.findall(r"^```python\n(.*?)^```$", "\n".join(stored), re.MULTILINE | re.DOTALL)
            assert blocks, (path.stem, "no source is stored", source(cell))
            printed += blocks
    return printed


def functions(block):
    """(syntax tree without docstring, number of lines without docstring) of each function of a printed source."""
    for node in ast.walk(ast.parse(textwrap.dedent(block))):
        if isinstance(node, ast.FunctionDef):
            size = node.end_lineno - node.lineno + 1
            if ast.get_docstring(node) is not None:
                docstring = node.body.pop(0)
                size -= docstring.end_lineno - docstring.lineno + 1
            yield node, size


def private_names(node) -> set[str]:
    """The names with one underscore in front that a function reads: `_helper`, `self._helper`."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    names |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return {name for name in names if re.match(r"_[a-zA-Z]", name)}


def unexplained(blocks, words) -> dict[str, list[str]]:
    """Function -> its private names that `words` doesn't mention and no printed source defines."""
    nodes = [node for block in blocks for node, _ in functions(block)]
    explained = {*re.findall(r"\w+", words), *(node.name for node in nodes)}
    missing = {node.name: sorted(private_names(node) - explained) for node in nodes}
    return {name: names for name, names in missing.items() if names}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_explains_the_helpers_of_the_source_it_prints(path):
    assert unexplained(shown_sources(path), prose(path)) == {}, path.stem


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_printed_source_fits_on_a_screen(path):
    sizes = {node.name: size for block in shown_sources(path) for node, size in functions(block)}
    assert {name: size for name, size in sizes.items() if size > MOST_LINES} == {}, path.stem


def test_a_helper_without_an_explanation_is_found():
    blocks = ['def f(self):\n    """Use `_docs`."""\n    return self._look(_find(self.shown), __name__, _)\n']
    assert unexplained(blocks, "") == {"f": ["_find", "_look"]}
    assert unexplained([*blocks, "def _find(x):\n    return x\n"], "`_look` looks, `_lookup` doesn't.") == {}
    assert sum(len(shown_sources(path)) for path in NOTEBOOKS) > 10
