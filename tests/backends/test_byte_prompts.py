"""Prompts that end anywhere, on a real model: Gemma 3 270M in llama.cpp. The record's first prompts are asked again.

Whether the numbers are right is also checked without the script: byte by byte, the bits of a text are those of its
covers, and an exact completion is what the tokenizer would make of the text.
"""

import json
from math import log

import pytest

from bpelab.chat import ChatSession
from bpelab.notebook.live_source import passages

from ..conftest import ROOT, load_script
from .conftest import need
from .real_models import gemma

SCRIPT = ROOT / "book" / "byte_prompts_record.py"
PROMPTS = 6


@pytest.fixture(scope="module")
def script():
    return load_script(SCRIPT)


@pytest.fixture(scope="module")
def session():
    need("llama_cpp")
    return ChatSession(gemma(), backend="llama_cpp", threads=1, device="cpu", n_ctx=512, max_new_tokens=8)


def test_the_record_is_made_again(script, session):
    """The first prompts that end inside a token: what depends on the tokenizer is equal, and the bits are, up to 1."""
    record = json.loads(SCRIPT.with_suffix(".json").read_text("utf-8"))
    recorded = record["models"]["Gemma 3 270M"]["losses"]
    inside = [number for number, within in enumerate(recorded["inside_token"]) if within][:PROMPTS]
    losses = script.Losses(session)
    rows = {number: losses.of(script.Cut(**record["prompts"][number])) for number in inside}
    for number, row in rows.items():
        for name in ("bytes", "other_ids", "covers", "evaluations", "missing"):
            assert row[name] == recorded[name][number], (number, name)
        for name in ("whole", "naive", "healed", "exact", "known"):
            assert row[name] == pytest.approx(recorded[name][number], abs=1), (number, name)
    whole, naive, exact = (sum(row[name] for row in rows.values()) for name in ("whole", "naive", "exact"))
    assert exact <= whole and exact + len(rows) < naive


def test_bits_of_bytes_add_up(session):
    """Byte by byte, from inside a character to inside another one; llama.cpp rounds otherwise for many ids at once."""
    start, end, data = 60, 68, passages("languages")["hindi"].encode()
    with pytest.raises(UnicodeDecodeError):
        data[:start].decode()
    likely = [session.next_bytes(data[:at]).probabilities[data[at]] for at in range(start, end)]
    began, goes_on = (session.probability(data[:at]) for at in (start, end))
    assert sum(map(log, likely)) == pytest.approx(goes_on.log_covers - began.log_covers, abs=0.2)


@pytest.mark.parametrize("prompt", ["The capital of Fra", "https://www.wikip"])
def test_an_exact_completion_goes_on_inside_a_token(session, prompt):
    answer, usual = session.complete(prompt, exact=True), session.complete(prompt)
    cover = [*answer.exact.ids, answer.ids[0]]
    shares = session.byte_model().covers(prompt).shares
    assert max(shares, key=lambda ids: shares[ids]) == tuple(cover) and answer.exact.missing == 0
    assert session.tokenizer.decode([*answer.exact.ids, *answer.ids]) == prompt + answer.text
    assert session.tokenizer.encode(prompt + answer.text, add_special_tokens=False)[: len(cover)] == cover
    assert usual.text[:2] != answer.text[:2] == ("nc" if prompt[-1] == "a" else "ed")
