"""The record of what real models do with spaces, sums and letters: what needs no model is counted again."""

import json

import pytest

from ..conftest import ROOT, load_script

SCRIPT = ROOT / "book" / "real_models_record.py"
MODELS = json.loads(SCRIPT.with_suffix(".json").read_text("utf-8"))["models"]


@pytest.fixture(scope="module")
def script():
    return load_script(SCRIPT)


def comparisons(run):
    return [run["space"], run["letters"], *run.get("sums", {"by_length": {}})["by_length"].values()]


def test_the_models_are_those_of_the_catalogue(script):
    assert {name: run["sha256"] for name, run in MODELS.items()} == {
        name: file.sha256 for name, file in script.MODELS.items()
    }


@pytest.mark.parametrize("name", MODELS)
def test_all_was_asked(name, script):
    run = MODELS[name]
    assert run["space"]["asked"] == len(set(script.prompts())) == script.PROMPTS >= 100
    questions = script.letter_questions()
    assert run["letters"]["asked"] == len(set(questions)) == 3 * script.WORDS >= 100
    assert {word.count(letter) for word, letter in questions} == {1, 2, 3}


def test_all_sums_were_asked(script):
    assert [name for name, run in MODELS.items() if "sums" in run] == ["Qwen2.5-Coder-1.5B-Instruct"]
    sums = MODELS["Qwen2.5-Coder-1.5B-Instruct"]["sums"]["by_length"]
    assert [*sums] == [f"{length} digits" for length in script.LENGTHS]
    assert {found["asked"] for found in sums.values()} == {script.SUMS} and len(sums) * script.SUMS >= 100


@pytest.mark.parametrize("name", MODELS)
def test_counts_agree_with_each_other(name):
    for found in comparisons(MODELS[name]):
        right, alone = found["right"], found["alone"]
        for pair, number in alone.items():
            one, _, other = pair.partition(", not ")
            assert number - alone[f"{other}, not {one}"] == right[one] - right[other]
            assert 0 <= number <= right[one] <= found["asked"]


def test_threes_from_the_left_are_no_thousands(script):
    assert script.by_threes_from_left(1_234_567) == "123,456,7" and script.WRITTEN["right"](1_234_567) == "1,234,567"
    for length in script.LENGTHS:
        number = int("1234567890"[:length])
        assert len({write(number) for write in script.WRITTEN.values()}) == 3
