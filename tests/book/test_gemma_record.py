"""Gemma's record, which *New words for an old model* shows: its numbers agree with each other."""

import json

import pytest

from ..conftest import ROOT
from ..real.catalogue import GEMMA_GGUF

RECORD = json.loads((ROOT / "book" / "gemma_record.json").read_text("utf-8"))
WIDTH, TOKENS = 640, 262_144


def test_it_is_the_model_that_the_tests_use_and_the_language_that_it_reads_worst():
    assert RECORD["model"] == {"name": "Gemma 3 270M", "sha256": GEMMA_GGUF.sha256}
    read = RECORD["tokens_per_character"]
    assert RECORD["language"] == max(read, key=lambda name: read[name]) and len(read) == 10
    assert list(RECORD["variants"]) == [RECORD["language"], "pruned", "Python"]
    assert all(text["bytes"] > 200_000 and len(text["sha256"]) == 64 for text in RECORD["texts"].values())


@pytest.mark.parametrize("name", RECORD["variants"])
def test_sizes_follow_from_the_rows(name):
    """The matrix is quantized in Q8_0, 34 bytes for 32 numbers."""
    run = RECORD["variants"][name]
    more = run["rows_after"] - run["rows_before"]
    assert run["rows_before"] == run["tokens_before"] == TOKENS and run["rows_after"] == run["tokens_after"]
    assert run["parameters_after"] - run["parameters_before"] == more * WIDTH
    assert run["bytes_after"] - run["bytes_before"] == more * WIDTH * 34 // 32
    assert run["file_bytes"] > run["bytes_after"] and run["rows_copied"] + run["rows_made"] == run["rows_after"]
    if name == "pruned":
        assert run["rows_after"] == 64_000 and run["tokens_removed"] == TOKENS - 64_000 and not run["rows_made"]
    else:
        assert 0 < more == run["rows_made"] <= 4_000 and not run["tokens_removed"]
        before, after = run["tokens_per_byte"][name]
        assert after < before


@pytest.mark.parametrize(("name", "text"), [(RECORD["language"],) * 2, ("pruned", "English"), ("Python",) * 2])
def test_training_starts_where_llama_cpp_measured_and_takes_as_long_without_a_change(name, text):
    """Both compute bits of the same text: torch from dequantized weights, llama.cpp with quantized ones."""
    runs = RECORD["trained"][text]
    assert list(runs) == [name, "as it was"]
    for found, run in zip(reversed(RECORD["variants"][name]["bits"]), runs.values()):
        assert run["bits"][0] == pytest.approx(found, rel=0.08)
        assert len(run["bits"]) == len(run["stages"]) + 1
        assert all(stage["tokens"] > 100 * stage["steps"] > 0 for stage in run["stages"])
    seconds, control = ([stage["cpu_seconds"] for stage in run["stages"]] for run in runs.values())
    assert min(seconds) >= 60 * RECORD["cpu_minutes_of_a_stage"] and len(control) == 1
    assert sum(seconds) == pytest.approx(control[0], rel=0.2)


def test_all_four_models_were_timed():
    assert list(RECORD["tokens_per_cpu_second"]) == ["as it was", *RECORD["variants"]]
    for rates in RECORD["tokens_per_cpu_second"].values():
        assert rates["reads"] > rates["generates"] > 1
