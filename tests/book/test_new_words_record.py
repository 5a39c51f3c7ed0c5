"""The record that *New words for an old model* shows: what can be computed without torch is computed again."""

import json
from hashlib import sha256

import pytest

from bpelab import BPETokenizer
from bpelab.adapt import adapt_model
from bpelab.chat import ChatSession
from bpelab.chat.models.find import SHIPPED
from bpelab.editing import extend, prune
from bpelab.notebook import book_text

from ..conftest import ROOT

RECORD = json.loads((ROOT / "book" / "new_words_record.json").read_text("utf-8"))
NAMES = ["as it was", "mean", "average", "random", "half"]


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, BPETokenizer]:
    """The tokenizer of each variant."""
    text = book_text()
    known = text[: len(text) * 9 // 10]
    old = BPETokenizer.from_pretrained(SHIPPED)
    new, half = extend(old, known, RECORD["new_tokens"]), prune(old, corpus=known, keep=512).tokenizer
    return {"as it was": old, "mean": new, "average": new, "random": new, "half": half}


def test_it_is_about_the_book_and_the_tokenizers_of_now(tokenizers):
    text = book_text()
    unseen = text[len(text) * 9 // 10 :]
    assert RECORD["text_sha256"] == sha256(text.encode()).hexdigest()
    assert RECORD["bytes_known"] + RECORD["bytes_unseen"] == len(text.encode())
    assert RECORD["bytes_unseen"] == len(unseen.encode())
    assert list(RECORD["variants"]) == NAMES
    for name, run in RECORD["variants"].items():
        assert run["vocabulary"] == tokenizers[name].n_vocab
        assert run["tokens_unseen"] == tokenizers[name].count_tokens(unseen)


def test_all_variants_were_trained_alike():
    first = RECORD["variants"]["as it was"]
    assert RECORD["met"]["conversations"] == first["steps"] // 2 * 16  # of a batch
    assert 0 < RECORD["met"]["tokens"] <= RECORD["new_tokens"]
    for ends in RECORD["again"].values():
        assert all(abs(bits - RECORD["variants"][name]["after"]["bits"]) < 0.1 for name, bits in ends.items())
    for run in RECORD["variants"].values():
        assert [at["step"] for at in run["curve"]] == [at["step"] for at in first["curve"]]
        assert run["curve"][-1]["step"] == run["steps"] == first["steps"]
        assert run["curve"][-1]["bits"] < run["curve"][0]["bits"] and run["cpu_seconds"] > 10
        assert abs(run["after"]["bits"] - run["curve"][-1]["bits"]) < 0.01  # rounding to 16 bits
        for counts in (run["before"]["exact"], run["after"]["exact"]):
            assert {kind: total for kind, (_, total) in counts.items()} == {
                kind: total for kind, (_, total) in first["before"]["exact"].items()
            }


@pytest.mark.parametrize("name", ["as it was", "mean", "half"])
def test_the_answers_before_training_are_those_of_the_adapted_models(name, tokenizers, tmp_path):
    """Also that rows by the mean leave each answer as it was to what no new token touches."""
    folder = SHIPPED
    if name != "as it was":
        folder = tmp_path / "model"
        adapt_model(SHIPPED, tokenizers[name], folder)
    session = ChatSession(folder, backend="reference", max_new_tokens=64)
    for question, answer in RECORD["variants"][name]["before"]["answers"].items():
        session.reset()
        assert session.ask(question).text == answer
    kept = [RECORD["variants"][variant]["before"]["exact"]["untouched"] for variant in ("as it was", "mean")]
    assert kept[0] == kept[1]
