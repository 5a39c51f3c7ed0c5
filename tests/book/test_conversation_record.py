"""The record of *Chat on your hardware* about two models that others trained: what needs no engine is counted again."""

import importlib
import json

import pytest

from ..conftest import ROOT
from .test_notebooks import prose

RECORD = json.loads((ROOT / "book" / "conversation_record.json").read_text("utf-8"))
TALK, COMPLETION = RECORD["conversation"], RECORD["completion"]
ANSWERS = [*TALK["turns"], COMPLETION]


def test_the_files_are_those_that_the_script_asks_for(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "book")
    script = importlib.import_module("conversation_record")
    assert {each["model"]: each["sha256"] for each in (TALK, COMPLETION)} == script.FILES
    assert TALK["questions"] == list(script.QUESTIONS) and COMPLETION["begun"] == script.BEGUN


@pytest.mark.parametrize("answer", ANSWERS, ids=["first", "second", "completion"])
def test_tokens_spell_the_answer_and_are_the_likeliest(answer):
    assert "".join(answer["tokens"]).replace("▁", " ") == answer["text"]
    assert len(answer["ids"]) == len(answer["tokens"]) == len(answer["probabilities"])
    for place, top in answer["top"].items():
        assert top[0] == [answer["tokens"][int(place)], answer["probabilities"][int(place)]]
        assert [share for _, share in top] == sorted((share for _, share in top), reverse=True)
        assert len(top) == 5
    assert answer["tokens_per_second"] > 1


def test_the_first_answer_drifts_where_it_is_said_to():
    drift, ids = TALK["drift"], TALK["turns"][0]["ids"]
    produced, encoded = drift["ids"]
    assert ids[drift["start"] :][: len(produced)] == produced != encoded
    assert "".join(drift["produced"]) == "".join(drift["encoded"]) == "]+$$\n"
    assert str(drift["start"]) in TALK["turns"][0]["top"]


def test_the_second_prompt_loses_the_cache_where_ids_change():
    first, second = TALK["turns"]
    kept, again = TALK["next_prompt"]["ids kept"], TALK["next_prompt"]["encoded again"]
    assert second["reused"] == len(TALK["prompt_ids"]) + len(first["ids"])
    assert (kept["ids"], kept["evaluated"]) == (second["prompt_tokens"], second["prompt_tokens"] - second["reused"])
    assert again["ids"] - again["evaluated"] == len(TALK["prompt_ids"]) + TALK["drift"]["start"]
    made = len(first["ids"])
    encoded = made + again["ids"] - kept["ids"]
    page = prose(ROOT / "book" / "chat.ipynb")
    assert f"Its answer has {made} ids, and the text encoded again has {encoded}." in page


def test_it_was_recorded_on_the_machine_that_it_names():
    assert RECORD["machine"]["cpu"] in RECORD["doctor"] and RECORD["machine"]["load_average"]
    assert TALK["peak_memory_bytes"] > TALK["bytes"] and COMPLETION["peak_memory_bytes"] > COMPLETION["bytes"]
    assert f"the same {len(TALK['prompt_ids'])} ids" in TALK["parity"]
