"""The same files from any hash seed, number of workers and order of the corpus; corpora that hold nothing to merge."""

import os
import subprocess
import sys

import pytest

from bpelab import BPETokenizer, TrainingError
from bpelab.trainers import TRAINERS
from bpelab.trainers.train import TrainingStopped

from ..conftest import ROOT, SOAK, needs_extension

EVERY = [*TRAINERS, "native"]


@pytest.mark.slow
def test_every_way_to_the_same_files(tmp_path):
    pytest.importorskip("distributed")
    needs_extension()
    seen, all_ways = set(), [*EVERY, "1", "2", "4"]
    for seed, ways in [(0, all_ways[1:-2]), (1, all_ways[-2:])] if not SOAK else [(n, all_ways) for n in range(5)]:
        words = [sys.executable, "-m", "tests.faults.same_files", str(tmp_path), str(seed), *ways]
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        lines = [line.split() for line in done.stdout.splitlines()]
        assert [line[0] for line in lines] == ways, done.stderr[-3_000:]
        seen |= {(digest, size) for _, digest, size in lines}
    assert len(seen) == 1 and seen.pop()[1] == "480"


@pytest.mark.parametrize("trainer", EVERY)
class TestNothingToMerge:
    @pytest.fixture(autouse=True)
    def _there(self, trainer):
        if trainer == "native":
            needs_extension()

    @pytest.mark.parametrize(
        ("text", "merges"), [("a", 0), ("abc", 0), ("a b c", 0), ("aa", 0), ("aaaa", 1), ("日", 0)]
    )
    def test_it_stops_early_and_says_where(self, trainer, text, merges):
        with pytest.warns(TrainingStopped, match=f"stopped at {257 + merges} tokens instead of 400"):
            tokenizer = BPETokenizer.train(text, 400, special_tokens=["<e>"], trainer=trainer)
        assert len(tokenizer) == 257 + merges
        assert tokenizer.decode(tokenizer.encode(text)) == text

    @pytest.mark.parametrize("text", ["", "<e><e>"])
    def test_empty(self, trainer, text):
        with pytest.raises(TrainingError, match="empty"):
            BPETokenizer.train(text, 400, special_tokens=["<e>"], trainer=trainer)

    @pytest.mark.parametrize("size", [-1, 0, 255, 257])
    def test_impossible_sizes(self, trainer, size):
        with pytest.raises(TrainingError, match="vocab_size"):
            BPETokenizer.train("abab", size, special_tokens=["<e>", "<f>"], trainer=trainer)

    def test_special_tokens_are_no_text(self, trainer):
        """What one of them holds apart is learned from as from texts of their own."""
        text = "low<e>er low<e>xyzlow xy<e><e>x low er" * 9
        names = ["<e>", "<e>xyz"]
        tokenizer = BPETokenizer.train(text, 264, special_tokens=names, trainer=trainer)
        apart = BPETokenizer.train(text.replace("<e>xyz", "<e>").split("<e>"), 264, special_tokens=names)
        assert tokenizer.get_vocab() == apart.get_vocab()
        assert len(tokenizer) == 264
