"""What every notebook of the book must satisfy, beside running with the outputs that it stores (nbval does that)."""

import ast
import base64
import importlib
import itertools
import json
import re
import struct

import pytest
from pybtex.richtext import Text

import bpelab
from bpelab import exercises
from bpelab.encoders import ENCODERS

from ..conftest import ROOT

NOTEBOOKS = sorted(path for path in (ROOT / "book").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
ROAD = (ROOT / "_toc.yml").read_text(encoding="utf-8").partition("caption: The library")[0]
MAIN_ROAD = [ROOT / f"{name}.ipynb" for name in re.findall(r"file: (book/\w+)$", ROAD, re.MULTILINE)]
"""The chapters that a reader of the whole book reads, in order; the library's pages and the back matter come after."""
CHAPTERS = [path for path in NOTEBOOKS if path.parent.name == "book" and path.stem in exercises.CHAPTERS]
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(ROOT / "book")
    WORKS = importlib.import_module("sphinx_local").cited_works()


def cells(path, kind):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def source(cell) -> str:
    return "".join(cell["source"])


def prose(path) -> str:
    return "\n".join(source(cell) for cell in cells(path, "markdown"))


def links(path) -> list[tuple[str, str]]:
    """The texts and addresses of the links to elsewhere in a notebook's prose."""
    return re.findall(r"\[([^][]*)\]\((https?://[^)\s]+)\)", prose(path))


def authors(work) -> str:
    """The authors of an entry of the bibliography, as a citation names them."""
    names = [str(Text.from_latex(" ".join([*p.prelast_names, *p.last_names]))) for p in work.persons["author"]]
    return f"{names[0]} et al." if len(names) > 2 or "others" in names else " and ".join(names)


def test_there_are_chapters():
    assert len(CHAPTERS) == len(exercises.CHAPTERS) > 18


def test_every_work_is_cited():
    assert WORKS.keys() <= {address for path in NOTEBOOKS for _, address in links(path)}


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

    def test_figures_stand_on_a_background_of_their_own(self, path):
        """Where one has none, IPython asks viewers for a dark or a light box around it."""
        for cell in cells(path, "code"):
            for output in cell["outputs"]:
                assert "needs_background" not in json.dumps(output.get("metadata", {})), source(cell)

    def test_a_wide_figure_scrolls_on_a_telephone(self, path):
        """Shrunk to its width, one that is more than twice as wide as a telephone would be unreadable."""
        for cell in cells(path, "code"):
            for output in cell["outputs"]:
                if image := output.get("data", {}).get("image/png"):
                    width, height = struct.unpack(">II", base64.b64decode("".join(image))[16:24])
                    wide = width > 770 and width > 2 * height
                    assert wide == ("wide-figure" in cell["metadata"].get("tags", [])), source(cell)

    def test_has_only_markdown_that_every_viewer_shows(self, path):
        """Roles, directives and fences of colons are Sphinx's alone."""
        assert not re.findall(r"(?<![`\w])\{[a-z:]+\}`[^`]+`|^(?:```+|:::+)\s*\{.*|^:::+.*", prose(path), re.MULTILINE)

    def test_cites_as_the_bibliography_has_it(self, path):
        """By author and year, with a link to the work itself. What looks like a citation is in the bibliography."""
        for text, address in links(path):
            if work := WORKS.get(address):
                name, year = authors(work), work.fields["year"]
                assert text in (f"{name} ({year})", f"{name}, {year}"), address
            else:
                assert not re.search(r"\b(?:19|20)\d\d\)?$", text), f"{text} is not in book/references.bib"

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
        """Only cells that measure time, look at the machine, or count the lines that this version of Python runs."""
        timed = ("seconds(", "time.", "slope(", "plot_growth(", "perf_counter", "process_time", "timeit", "__version__")
        timed += ("detect()", "backends_record.json", "dashboard_link", "in_turns(", "unseen(", "smaps_rollup")
        timed += ("settrace",)
        for cell in cells(path, "code"):
            if "nbval-ignore-output" in cell["metadata"].get("tags", []):
                assert any(word in source(cell) for word in timed) or "times" in source(cell), source(cell)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
class TestEveryChapter:
    def test_says_something(self, path):
        words = sum(len(source(cell).split()) for cell in cells(path, "markdown"))
        assert words > 800

    def test_has_one_title_a_figure_exercises_and_sources(self, path):
        text = prose(path)
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
        assert len(re.findall(r"\*\*Exercise \w+\.\d+", text)) >= 3
        assert any(address in WORKS for _, address in links(path))
        assert "*Figure" in text or "Figure:" in text
        assert any("image/png" in out.get("data", {}) for cell in cells(path, "code") for out in cell["outputs"])

    def test_every_picture_has_alternative_text(self, path):
        for cell in cells(path, "code"):
            if any("image/png" in output.get("data", {}) for output in cell["outputs"]):
                assert len(cell["metadata"]["mystnb"]["image"]["alt"]) > 20, source(cell)

    def test_voice(self, path):
        text = prose(path)
        assert "!" not in re.sub(r"`[^`]*`|```.*?```|<!--.*?-->|!=|\(\?!|!\[", "", text, flags=re.DOTALL)
        for filler in ("simply", "powerful", "let's dive", "in this chapter we will", "delve"):
            assert filler not in text.lower(), filler


@pytest.mark.parametrize("path", MAIN_ROAD[:-1], ids=lambda path: path.stem)  # the last one ends the book
def test_ends_in_short(path):
    """Five lines to keep, five questions and their folded answers, before what was left out."""
    number = r"\d\. .+\n(?:   .+\n)*"
    ending = (
        r"## In short\n\n(?:- .+\n(?:  .+\n)*){5}\n\*\*Five questions to answer on paper\.\*\*\n\n"
        rf"(?:{number}){{5}}\n<details class=\"answer\"><summary>Answers</summary>\n\n(?:{number}){{5}}\n</details>\n\n"
        r"## What was left out\n"
    )
    assert len(re.findall(ending, prose(path))) == 1


def test_predictions_keep_their_answers():
    """What is printed between a prediction and the next words is folded; sphinx_local.py folds those words."""
    asked = 0
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        kept = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for index, cell in enumerate(kept):
            text = "".join(cell["source"])
            assert not re.search(r"\*\*(Predict\*\*|Your guess)", text), "one wording: **Predict.**"
            if cell["cell_type"] == "markdown" and "**Predict.**" in text:
                after = text.partition("**Predict.**")[2].partition("\n\n")[2]
                assert not after or after.startswith("## "), (path.name, "these words would be folded as the answer")
                for answer in itertools.takewhile(lambda cell: cell["cell_type"] == "code", kept[index + 1 :]):
                    assert not answer["outputs"] or "hide-output" in answer["metadata"].get("tags", ()), (
                        path.name,
                        index,
                    )
                    asked += 1
    assert asked > 20


def test_cells_that_mostly_plot_are_folded():
    words = re.compile(r"\b(axes|axis|plt|figure|pyplot|GREY|COLOURS|bbox|legend|annotate)\b")
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        for cell in cells(path, "code"):
            lines = [line for line in source(cell).splitlines() if line.strip() and not line.strip().startswith("#")]
            if len(lines) >= 6 and sum(bool(words.search(line)) for line in lines) >= len(lines) / 2:
                assert "hide-input" in cell["metadata"].get("tags", ()), source(cell)
