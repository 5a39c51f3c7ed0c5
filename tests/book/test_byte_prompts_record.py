"""The record of prompts that end anywhere: what needs no model is made again, and what the page says of it holds."""

import json
from collections import Counter
from hashlib import sha256
from math import sqrt

import pytest

from bpelab.notebook import book_text

from ..conftest import ROOT, load_script

SCRIPT = ROOT / "book" / "byte_prompts_record.py"
RECORD = json.loads(SCRIPT.with_suffix(".json").read_text("utf-8"))
MODELS = RECORD["models"]
QWEN = "Qwen2.5-Coder-1.5B-Instruct"


@pytest.fixture(scope="module")
def script():
    return load_script(SCRIPT)


def more(name, way):
    """The mean of the bits that a way needs more than the exact one for what follows a prompt, and its error."""
    columns = MODELS[name]["losses"]
    found = [bits - exact for bits, exact in zip(columns[way], columns["exact"])]
    mean = sum(found) / len(found)
    return mean, sqrt(sum((each - mean) ** 2 for each in found) / (len(found) - 1) / len(found))


def test_the_models_are_those_of_the_catalogue(script):
    assert {name: run["sha256"] for name, run in MODELS.items()} == {
        name: file.sha256 for name, file in script.MODELS.items()
    }
    assert RECORD["machine"]["threads"] == 1


def test_the_texts_are_cut_at_the_places_that_are_drawn(script):
    """The list of references grows. Until it does, its cuts are the same, too."""
    cuts, texts = [cut._asdict() for cut in script.cuts()], script.texts()
    same = {
        kind for kind, text in texts.items() if sha256(text.encode()).hexdigest() == RECORD["texts"][kind]["sha256"]
    }
    assert same >= {"stories", "code", "languages"}
    recorded = RECORD["prompts"]
    assert [cut for cut in cuts if cut["kind"] in same] == [cut for cut in recorded if cut["kind"] in same]
    assert Counter(cut["kind"] for cut in recorded) == dict.fromkeys(script.KINDS, script.OF_A_KIND)
    assert len({(cut["prompt"], cut["rest"]) for cut in recorded}) == len(recorded) == 100
    for cut in recorded:
        if cut["kind"] == "links":
            assert "https://" in cut["prompt"].split()[-1] and cut["rest"][0] not in " }\n"
        else:
            assert cut["kind"] not in same or cut["rest"][:40].split("\n\n")[0] in book_text()


@pytest.mark.parametrize("name", MODELS)
def test_numbers_agree_with_each_other(name, script):
    """Where a token ends with the prompt, it is known which; otherwise its share is less than all of it."""
    columns = MODELS[name]["losses"]
    assert {len(column) for column in columns.values()} == {len(RECORD["prompts"])}
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    for row in rows:
        assert row["bytes"] >= script.AFTER and row["missing"] == 0 and row["covers"] >= row["evaluations"] > 0
        assert min(row[way] for way in ("whole", "naive", "healed", "exact", "known")) > 0
        assert row["known"] == row["whole"] or row["inside_token"]
        assert row["exact"] > row["known"] - 0.01  # the border before the cut is one of those that covers allow
    assert 20 < sum(columns["inside_token"]) < 80


@pytest.mark.parametrize("name", MODELS)
def test_the_exact_way_costs_no_more_than_the_whole_text_and_the_naive_one_does(name):
    whole, _ = more(name, "whole")
    naive, error = more(name, "naive")
    healed, _ = more(name, "healed")
    assert whole >= 0 and naive > 3 * error and naive > 1 and healed > 0
    columns = MODELS[name]["losses"]
    assert sum(columns["exact_right"]) > 1.5 * sum(columns["naive_right"])


@pytest.mark.parametrize(("name", "worse", "highest", "saved"), [("Gemma 3 270M", 6, 30, 0.2), (QWEN, 8, 19, 0.1)])
def test_where_healing_does_not_help_and_what_the_border_would_save(name, worse, highest, saved):
    losses = MODELS[name]["losses"]
    more_bits = [healed - exact for healed, exact in zip(losses["healed"], losses["exact"])]
    assert (sum(each > 1 for each in more_bits), round(max(more_bits))) == (worse, highest)
    assert round(-more(name, "known")[0], 1) == saved
    at_borders = [number for number, inside in enumerate(losses["inside_token"]) if not inside]
    exact, whole = (sum(losses[way][number] for number in at_borders) for way in ("exact", "whole"))
    assert 0 < (exact - whole) / len(at_borders) < 0.5


@pytest.mark.parametrize("name", MODELS)
def test_no_limit_was_reached(name, script):
    run = MODELS[name]
    usual, exact = run["completions"]["usual"], run["completions"]["exact"]
    assert usual["prompts"] == exact["prompts"] == script.COMPLETED
    assert usual["evaluations"] == usual["tokens"] <= usual["prompts"] * script.NEW_TOKENS
    assert exact["tokens"] < exact["evaluations"] < 1.2 * exact["tokens"]
    assert usual["bounded"] == exact["bounded"] == 0
    assert {cut["kind"] for cut in RECORD["prompts"][: script.COMPLETED]} == {*script.KINDS}


def test_gemma_was_followed_byte_by_byte(script):
    made = MODELS["Gemma 3 270M"]["bytes"]
    assert made["texts"] == script.FOLLOWED and made["bytes"] == script.FOLLOWED * script.BYTES
    assert made["bytes"] <= made["evaluations"] < 1.2 * made["bytes"] and made["bounded"] == 0
