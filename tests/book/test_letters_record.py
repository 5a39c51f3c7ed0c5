"""The record of *A language model in one page* about counting letters: what needs no torch is computed again."""

import json
from collections import Counter

import pytest

from bpelab import BPETokenizer
from bpelab.chat.models.find import SHIPPED
from tools.make_tiny_chat.items import held_out
from tools.make_tiny_chat.spelling import words

from ..conftest import ROOT

RECORD = json.loads((ROOT / "book" / "letters_record.json").read_text("utf-8"))
VARIANTS = {"tokens": False, "letters": False, "tokens, spelled": True, "letters, spelled": True}


def test_the_words_are_those_of_now():
    unseen = [word for word in words() if held_out(word, 8)]
    assert (RECORD["words"], RECORD["held_out"]) == (len(words()) - len(unseen), len(unseen))
    assert RECORD["strawberry_held_out"] == ("strawberry" in unseen or "strawberry" not in words())


@pytest.mark.parametrize("name", VARIANTS)
def test_each_variant_was_asked_all_questions(name):
    run = RECORD["variants"][name]
    right, total = run["right"]["all"]
    assert total == RECORD["questions"] and run["cpu_seconds"] > 10
    for unit in ("tokens", "times"):
        parts = [counts for kind, counts in run["right"].items() if kind.endswith(unit)]
        assert [sum(column) for column in zip(*parts)] == [right, total]
    assert run["right"]["0 times"][1] == run["right"]["1 times"][1] == total // 3  # a constant answer: a third is right
    assert (run["spelled"] > 0) == VARIANTS[name] == (":" in run["strawberry"])


def test_all_variants_were_asked_the_same():
    asked = [{kind: total for kind, (_, total) in run["right"].items()} for run in RECORD["variants"].values()]
    assert asked == [asked[0]] * len(VARIANTS)


def test_the_questions_are_of_the_held_out_words():
    tokenizer = BPETokenizer.from_pretrained(SHIPPED)
    longest = max(len(tokenizer.encode(word)) for word in words() if held_out(word, 8))
    sizes = Counter(int(kind.split()[0]) for kind in RECORD["variants"]["tokens"]["right"] if kind.endswith("tokens"))
    assert 1 <= min(sizes) <= max(sizes) <= longest
