"""The quick answers of *Measuring* are what the library says."""

import random

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.exercises.chapters.measuring import ANSWERS
from bpelab.notebook import book_text
from bpelab.trainers.train import TrainingStopped

from ..conftest import fuzz_text


def test_encodings():
    plain = BPETokenizer(BPEModel.from_merges([]))
    assert plain.encode("hé!") == ANSWERS["bytes"]
    assert BPETokenizer(BPEModel.from_merges([(b"a", b"a")])).encode("aaaaa") == ANSWERS["pairs"]
    assert plain.decode(plain.encode("né 日\x00")) == "né 日\x00"
    assert ANSWERS["why bytes"] == "complete"


def test_frequencies():
    for least in (1, 2):
        with pytest.warns(TrainingStopped):
            learned = BPETokenizer.train("ab ab ab cd", 999, min_frequency=least, progress=False).model.merges
        assert len(learned) == ANSWERS[f"at least {least}"]


def test_a_larger_vocabulary():
    few, many = (BPETokenizer.train("the harbour master, " * 9, size, progress=False) for size in (260, 270))
    texts = ["the harbour", "7401", "гавань"]
    assert [text for text in texts if many.count_tokens(text) < few.count_tokens(text)] == ANSWERS["helps on"]
    assert ANSWERS["helps for"] == ["32 layers"]
    few, many = (BPETokenizer.train(book_text()[:50_000], size, progress=False) for size in (300, 600))
    rng = random.Random(15)
    worse = [text for text in (fuzz_text(rng) for _ in range(200)) if many.count_tokens(text) > few.count_tokens(text)]
    assert bool(worse) == ANSWERS["larger"]
