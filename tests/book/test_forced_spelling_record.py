"""The record of what a forced spelling costs: what needs no model is counted again."""

import json
import re

import pytest

from ..conftest import ROOT, load_script

SCRIPT = ROOT / "book" / "forced_spelling_record.py"
RECORD = json.loads(SCRIPT.with_suffix(".json").read_text("utf-8"))


@pytest.fixture(scope="module")
def script():
    return load_script(SCRIPT)


def test_the_models_are_those_of_the_catalogue(script):
    for part, file in (("answers", script.QWEN_GGUF), ("others", script.GEMMA_GGUF)):
        assert (RECORD[part]["file"], RECORD[part]["sha256"]) == (file.name, file.sha256)


def test_the_answers_of_questions_are_right(script):
    questions = script.questions()
    assert len(questions) == len(set(questions)) >= 40
    for question, answer in questions:
        assert re.fullmatch(script.ANSWER, answer)
        if asked := re.fullmatch(r"What is (\d+ \+ \d+)\?|What does print\((.+)\) print in Python\?", question):
            assert answer == str(eval(asked[1] or asked[2]))
        elif question.startswith("Which of these"):
            assert question.removesuffix("?").replace(":", ",").split(", ").count(answer) == 1


def test_all_was_asked_in_every_form_and_way(script):
    assert [*RECORD["answers"]["forms"]] == [*script.FORMS]
    right = [answer for _, answer in script.questions()]
    for ways in RECORD["answers"]["forms"].values():
        assert [*ways] == [*script.WAYS]
        for found in ways.values():
            assert len(found["answers"]) == len(right)
            assert found["right"] == sum(map(str.__eq__, found["answers"], right))
            assert all(re.fullmatch(script.ANSWER, answer) for answer in found["answers"])


def test_a_canonical_mask_gives_canonical_ids_and_bytes_are_tokens(script):
    for form, ways in RECORD["answers"]["forms"].items():
        assert ways["canonical"]["other_ids"] == 0
        (before, after), _ = script.FORMS[form]
        texts = [before + answer + after for answer in ways["bytes"]["answers"]]
        assert ways["bytes"]["tokens"] == sum(map(len, texts)) and ways["bytes"]["other_ids"] == len(texts)


def test_what_the_page_says_of_the_answers(script):
    questions = script.questions()
    right = [answer for _, answer in questions]
    for ways in RECORD["answers"]["forms"].values():
        spelled = [answer for answer, found in zip(right, ways["bytes"]["answers"]) if answer == found]
        assert spelled and all(map(str.isdigit, spelled))
        known = [answer for answer, found in zip(right, ways["canonical"]["answers"]) if answer == found]
        assert sum(not answer.isdigit() for answer in known) > 20
    asked = [question for question, _ in questions].index("What is 17 + 25?")
    assert RECORD["answers"]["forms"]["JSON"]["usual"]["answers"][asked] == "bytes"


def test_other_spellings_were_measured_for_all_texts(script):
    texts, shares = script.beginnings(), RECORD["others"]["shares"]
    assert len(shares) == len(set(texts)) == script.TEXTS and RECORD["others"]["calls"] == script.CALLS
    assert all(10 <= len(text) < 40 for text in texts) and all(0 <= share < 1 for share in shares)
