"""What every notebook of the book must satisfy, beside running with the outputs that it stores (nbval does that)."""

import ast
import json
import re

import pytest

import bpelab
from bpelab.encoders import ENCODERS

from ..conftest import ROOT

NOTEBOOKS = sorted(path for path in (ROOT / "book").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
CHAPTERS = [path for path in NOTEBOOKS if path.parent.name == "book" and path.stem[0].isdigit()]


def cells(path, kind):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def source(cell) -> str:
    return "".join(cell["source"])


def test_there_are_chapters():
    assert len(CHAPTERS) >= 7


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestEveryNotebook:
    def test_is_stored_executed(self, path):
        """nbval compares nothing in a cell without a count, so a stripped notebook would pass it."""
        counts = [cell["execution_count"] for cell in cells(path, "code")]
        assert counts == list(range(1, len(counts) + 1))
        assert any(cell["outputs"] for cell in cells(path, "code"))

    def test_stores_no_error_and_no_warning(self, path):
        for cell in cells(path, "code"):
            for output in cell["outputs"]:
                assert output["output_type"] != "error", source(cell)
                assert output.get("name") != "stderr", source(cell)

    def test_defines_nothing_that_the_package_exports(self, path):
        exported = {*bpelab.__all__, *(encoder.__name__ for encoder in ENCODERS.values())}
        for cell in cells(path, "code"):
            text = "\n".join(line for line in source(cell).splitlines() if not line.lstrip().startswith(("%", "!")))
            names = {n.name for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
            assert not names & exported

    def test_has_no_address_and_no_path_of_a_machine(self, path):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r" at 0x[0-9a-f]{6,}", text)
        assert not re.search(r"(?<![\w.])/(?:home|root|tmp|usr|work)/\w", text)

    def test_ignores_no_output_without_a_reason(self, path):
        """The only cells that are not compared are those that measure time or look at the machine."""
        timed = ("seconds(", "time.", "slope(", "plot_growth(", "perf_counter", "process_time", "timeit", "__version__")
        timed += ("detect()", "backends_record.json", "dashboard_link")
        for cell in cells(path, "code"):
            if "nbval-ignore-output" in cell["metadata"].get("tags", []):
                assert any(word in source(cell) for word in timed) or "times" in source(cell), source(cell)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
class TestEveryChapter:
    def test_says_something(self, path):
        words = sum(len(source(cell).split()) for cell in cells(path, "markdown"))
        assert words > 800

    def test_has_one_title_a_figure_exercises_and_sources(self, path):
        prose = "\n".join(source(cell) for cell in cells(path, "markdown"))
        assert len(re.findall(r"^# ", prose, re.MULTILINE)) == 1
        assert len(re.findall(r"\*\*Exercise \d+\.\d+", prose)) >= 3
        assert "{cite:" in prose
        assert "*Figure" in prose or "Figure:" in prose
        assert any("image/png" in out.get("data", {}) for cell in cells(path, "code") for out in cell["outputs"])

    def test_every_picture_has_alternative_text(self, path):
        for cell in cells(path, "code"):
            if any("image/png" in output.get("data", {}) for output in cell["outputs"]):
                assert len(cell["metadata"]["mystnb"]["image"]["alt"]) > 20, source(cell)

    def test_voice(self, path):
        prose = "\n".join(source(cell) for cell in cells(path, "markdown"))
        assert "!" not in re.sub(r"`[^`]*`|```.*?```|<!--.*?-->|!=|\(\?!|!\[", "", prose, flags=re.DOTALL)
        for filler in ("simply", "powerful", "let's dive", "in this chapter we will", "delve"):
            assert filler not in prose.lower(), filler
