"""Superwords: the incremental learner has the merges of the textbooks, on random corpora."""

import random

import pytest

from bpelab import BPEModel
from bpelab.pretokenizers.split import Split
from bpelab.trainers.boundless import train_boundless
from bpelab.trainers.incremental import train_incremental
from bpelab.trainers.naive import train_naive
from bpelab.trainers.superbpe import TwoStages, named_merges, train_superbpe
from bpelab.trainers.superword_learner import compete, learn_superwords
from bpelab.trainers.superwords import Superwords
from bpelab.model.trace import BYTES

from ..conftest import amount

WORDS = ["of", "the", "a", "at", "by the way", "ab", "aab", "12", "é", "日本", ":", "(", "\n", "  ", "--", "it's", "No"]


def random_corpus(rng: random.Random) -> list[str]:
    chosen = rng.sample(WORDS, rng.randint(2, 8))
    return [" ".join(rng.choices(chosen, k=rng.randint(0, 30))) for _ in range(rng.randint(1, 6))]


def random_superwords(rng: random.Random, method: str) -> Superwords:
    return Superwords(
        method,
        transition=rng.choice([0.0, 0.5, 0.9, 0.97, 1.0, 256, 262]),
        pattern=rng.choice(["superbpe", "superbpe", r"\n", "[0-9]"]),
        max_words=rng.choice([None, 2, 4]),
        forbidden=rng.choice([(), (": ",), ("e a", "b")]),
    )


def fast(texts, words, num_merges, superwords, min_frequency, train) -> TwoStages:
    counts: dict[bytes, int] = {}
    for text in texts:
        for piece in words.split(text):
            counts[piece.encode()] = counts.get(piece.encode(), 0) + 1
    first = superwords.merges_before(num_merges) if superwords.method == "superbpe" else num_merges
    inside = named_merges(train_incremental(counts, first, min_frequency), BYTES)
    model = BPEModel.from_merges([(merge.left, merge.right) for merge in inside])
    options = {"train": train}
    if superwords.method == "superbpe":
        more = num_merges - len(inside)
        beyond = learn_superwords(lambda: texts, model, words, more, superwords, min_frequency, **options)
        return TwoStages(inside, list(beyond))
    least = inside[-1].count + 1 if len(inside) == num_merges and inside else None
    beyond = learn_superwords(
        lambda: texts, model, words, num_merges, superwords, min_frequency, least=least, **options
    )
    return compete(inside, beyond, num_merges)


@pytest.mark.parametrize("method", ["superbpe", "boundless"])
@pytest.mark.parametrize("train", [train_naive, train_incremental])
def test_the_merges_of_the_textbook(method, train):
    textbook = {"superbpe": train_superbpe, "boundless": train_boundless}[method]
    learned = 0
    for seed in range(amount(150, 3_000)):
        rng = random.Random(seed)
        texts, superwords = random_corpus(rng), random_superwords(rng, method)
        words = Split(rng.choice(["cl100k", "gpt2", "o200k", r"\w+|\W"]))
        given = words, rng.randint(8, 60), superwords, rng.choice([1, 2, 3])
        expected = textbook(texts, *given)
        assert fast(texts, *given, train) == expected, seed
        learned += len(expected.superwords)
    assert learned > 300
