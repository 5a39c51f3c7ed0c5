"""Trainers against a textbook written out here, against rustbpe, and against themselves under other conditions."""

import os
import random
import subprocess
import sys
from collections import Counter

import pytest

from bpelab import BPETokenizer
from bpelab.model.trace import trace_train
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.trainers import TRAINERS, find_trainer

from ..conftest import amount, needs_extension, shared_text


def textbook(words: dict[bytes, int], merges: int, least: int) -> list[tuple[int, int, int]]:
    """(left, right, count) of each merge: count all pairs, take the most frequent, replace it, from left to right."""
    texts = [(list(word), n) for word, n in words.items()]
    out = []
    while len(out) < merges:
        counts: Counter[tuple[int, int]] = Counter()
        for ids, n in texts:
            for i in range(len(ids) - 1):
                counts[ids[i], ids[i + 1]] += n
        if not counts or max(counts.values()) < least:
            break
        best = min(pair for pair, count in counts.items() if count == max(counts.values()))
        for ids, _ in texts:
            i = 0
            while i < len(ids) - 1:
                if (ids[i], ids[i + 1]) == best:
                    ids[i : i + 2] = [256 + len(out)]
                i += 1
        out.append((*best, counts[best]))
    return out


def random_corpus(rng: random.Random) -> dict[bytes, int]:
    alphabet = rng.choice(["ab", "abc", "aA é1", "abcdefgh", "a日本😀"])
    words = ["".join(rng.choices(alphabet, k=rng.choice((1, 2, 3, 5, 9, 40)))) for _ in range(rng.choice((1, 3, 30)))]
    return dict(Counter(word.encode() for word in words))


@pytest.mark.parametrize("name", TRAINERS)
class TestEveryTrainer:
    def test_learns_what_the_textbook_learns(self, name):
        rng = random.Random(5)
        for _ in range(amount(300, 3_000)):
            words, least = random_corpus(rng), rng.choice((1, 2, 3))
            learned = [(s.left, s.right, s.count) for s in TRAINERS[name](words, 40, least)]
            assert learned == textbook(words, 40, least), words

    def test_runs_and_overlaps(self, name):
        for text in (b"aaa", b"aaaa", b"aaaaaaaaab", b"abababab", b"aabaabaa" * 7):
            learned = [(s.left, s.right, s.count) for s in TRAINERS[name]({text: 3}, 30, 1)]
            assert learned == textbook({text: 3}, 30, 1), text

    def test_counts_beyond_32_bits(self, name):
        steps = list(TRAINERS[name]({b"ab": 1 << 40, b"abc": 7}, 2, 2))
        assert [s.count for s in steps] == [(1 << 40) + 7, 7]

    def test_order_of_the_words_is_nothing(self, name):
        words = dict(Counter(Split("gpt2").split(book_text()[:20_000])))
        one = {word.encode(): n for word, n in words.items()}
        other = dict(sorted(one.items(), reverse=True))
        assert [s.token for s in TRAINERS[name](one, 60, 2)] == [s.token for s in TRAINERS[name](other, 60, 2)]

    def test_traces_carry_the_counts(self, name):
        words = {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}
        for step in trace_train(TRAINERS[name], words, 6):
            assert step.counts is not None
            assert step.count == max(step.counts.values()) == step.counts[step.left, step.right]
            assert all(count >= 0 for count in step.counts.values())


def test_ties_go_to_the_smaller_left_then_the_smaller_right():
    for trainer in TRAINERS.values():
        assert [s.token for s in trainer({b"zy": 4, b"zx": 4, b"ab": 4}, 3, 2)] == [b"ab", b"zx", b"zy"]


@pytest.mark.slow
def test_the_trainers_agree_on_a_real_text():
    words = Counter(piece.encode() for piece in Split("cl100k").split(book_text()))
    few = amount(120, 1_000)
    assert [*TRAINERS["naive"](words, few, 2)] == [*TRAINERS["incremental"](words, few, 2)]


@pytest.mark.parametrize(("trainer", "size"), [("auto", 3_000), ("native", 6_000)])
@pytest.mark.parametrize("text", ["book", "shakespeare"])
def test_rustbpe_learns_the_same_merges(text, trainer, size):
    rustbpe = pytest.importorskip("rustbpe")
    if trainer == "native":
        needs_extension()
    corpus = book_text() if text == "book" else shared_text("tinyshakespeare.txt")
    pattern = PATTERNS["cl100k"].oniguruma
    theirs = rustbpe.Tokenizer()
    theirs.train_from_iterator([corpus], size, pattern=pattern)
    ours = BPETokenizer.train(corpus, size, pattern=pattern, min_frequency=1, trainer=trainer)
    assert {bytes(token): rank for token, rank in theirs.get_mergeable_ranks()} == ours.model.ids


def test_the_hash_seed_is_nothing():
    program = (
        "from bpelab import BPETokenizer; from bpelab.notebook import book_text;"
        "print(*BPETokenizer.train(book_text()[:40_000], 500, special_tokens=['<a>', '<b>']).get_vocab().items())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="choose auto, native, or one of naive, incremental"):
        find_trainer("quick")
