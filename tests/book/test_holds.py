"""Sentences that depend on an output agree with the output that is stored, which is the one that readers see.

The metadata of a cell of text can have `holds`: expressions about what was printed last before it, in which `text` is
the output, `n` all its numbers, and `f` those with a decimal point. A page whose words and numbers disagree fails here.
"""

import json
import re

import pytest

from ..conftest import ROOT

PAGES = sorted((ROOT / "book").glob("*.ipynb"))
MARKED = {}
for page in PAGES:
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    for index, cell in enumerate(cells):
        for claim in cell["metadata"].get("holds", ()):
            MARKED[f"{page.stem}, cell {index}: {claim}"] = cells, index, claim


def printed(cells: list[dict], index: int) -> str:
    """What was printed last before a cell, or else shown."""
    for cell in reversed(cells[:index]):
        outputs = cell.get("outputs", ())
        streams = "".join("".join(output.get("text", "")) for output in outputs)
        shown = "".join("".join(output.get("data", {}).get("text/plain", "")) for output in outputs)
        if streams or (shown and "<Figure" not in shown):
            return streams or shown
    return ""


def holds(claim: str, text: str) -> bool:
    numbers = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]
    fractions = [float(number) for number in re.findall(r"\d+\.\d+", text)]
    return bool(eval(claim, {"text": text, "n": numbers, "f": fractions}))


@pytest.mark.parametrize("marked", MARKED.values(), ids=MARKED)
def test_what_a_page_says_of_its_numbers_holds(marked):
    cells, index, claim = marked
    assert holds(claim, printed(cells, index)), printed(cells, index)


def test_growth_is_said_of_no_output_without_a_mark():
    """Words such as `the slope is near 1`, right after an output that prints slopes, are marked."""
    for page in PAGES:
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        for index, cell in enumerate(cells):
            if cell["cell_type"] != "markdown" or not index or cells[index - 1]["cell_type"] != "code":
                continue
            says = re.search(
                r"[Ss]lopes?\b[^.]*\b(?:near|close to|below|above)\b|\b[Cc]lose to [12]\b", "".join(cell["source"])
            )
            if says and re.search(r"\d\.\d", printed(cells, index)):
                assert cell["metadata"].get("holds"), f"{page.name}, cell {index}: {says[0]}"


def test_a_sentence_that_does_not_hold_is_found():
    assert holds("0.7 < f[0] < 1.3 and n[-1] == 1024", "slope 1.02, 1,024 letters")
    assert not holds("0.7 < f[0] < 1.3", "slope 1.62")
