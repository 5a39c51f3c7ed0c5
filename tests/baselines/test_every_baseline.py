"""What all baselines promise: what they can't write they count, what they write comes back, and nothing hangs."""

import random
import time

import pytest
from hypothesis import given, strategies as st

from bpelab._support.textio import valid_text
from bpelab.baselines import BASELINES, CharacterTokenizer, UnigramTokenizer
from bpelab.baselines.common import PairCounts, words_and_marks
from bpelab.errors import BPELabError, TrainingError, UnknownTokenError
from bpelab.notebook import book_text
from bpelab.trainers.naive import count_pairs, replace_pair

from ..conftest import SPICE, amount, fuzz_text

TEXT = book_text()[:40_000]
HOSTILE = st.lists(st.one_of(st.sampled_from([*SPICE, "\u2581", "</w>", "<unk>", "[UNK]", "##a"]), st.text())).map(
    "".join
)


@pytest.fixture(scope="module")
def trained():
    return {name: kind.train(TEXT, 1_500) for name, kind in BASELINES.items()}


@pytest.mark.parametrize("name", BASELINES)
class TestEveryBaseline:
    def test_same_surface(self, name, trained):
        tokenizer = trained[name]
        assert len(tokenizer) == len(tokenizer.vocabulary) <= 1_500
        assert len(set(tokenizer.vocabulary)) == len(tokenizer)
        sample = "The baker's geese, 12 of them."
        ids = tokenizer.encode(sample)
        assert tokenizer.tokens(sample) == [tokenizer.vocabulary[i] for i in ids]
        assert tokenizer.unknown_count(sample) == ids.count(0)
        assert tokenizer.encode("") == [] == tokenizer.tokens("")
        assert tokenizer.decode([]) == ""

    @given(text=HOSTILE)
    def test_loses_no_word_silently(self, name, trained, text):
        """Decoded, all but the white space is there again; each unknown stands where something is missing."""
        tokenizer = trained[name]
        ids, decoded = tokenizer.encode(text), tokenizer.decode(tokenizer.encode(text))
        assert all(0 <= i < len(tokenizer) for i in ids)
        if not tokenizer.unknown_count(text):
            assert words_and_marks(decoded) == words_and_marks(text)
        if name in ("characters", "unigram"):
            clean = valid_text(text)
            assert len(decoded) == len(clean)
            unknown = [char for char in clean if tokenizer.unknown_count(char)]
            assert len(unknown) == tokenizer.unknown_count(text)
            assert all(b == a or (b == "\ufffd" and a in unknown) for a, b in zip(clean, decoded))

    @given(text=HOSTILE)
    def test_what_is_decoded_encodes_the_same(self, name, trained, text):
        tokenizer = trained[name]
        once = tokenizer.decode(tokenizer.encode(text))
        if not tokenizer.unknown_count(text):
            assert tokenizer.decode(tokenizer.encode(once)) == once

    def test_trains_the_same_whatever_the_order(self, name):
        words = {word: TEXT.count(word) for word in sorted(set(words_and_marks(TEXT[:8_000])))}
        shuffled = list(words.items())
        random.Random(0).shuffle(shuffled)
        kind = BASELINES[name]
        assert kind.train(words, 700).vocabulary == kind.train(dict(shuffled), 700).vocabulary

    @pytest.mark.parametrize("word", ["a" * 10_000, "abcdefghij" * 1_000, "\U0001f680" * 10_000, "the" * 3_333])
    def test_a_long_word_does_not_hang(self, name, trained, word):
        start = time.process_time()
        trained[name].encode(word)
        BASELINES[name].train(word + " and some more", 60)
        assert time.process_time() - start < 10

    def test_errors_name_what_is_wrong(self, name, trained):
        kind = BASELINES[name]
        with pytest.raises(TrainingError, match="the corpus is empty"):
            kind.train("", 100)
        with pytest.raises(TrainingError, match="the corpus is empty"):
            kind.train({}, 100)
        with pytest.raises(TrainingError, match="vocab_size=1 is too small"):
            kind.train("abc", 1)
        with pytest.raises(TypeError, match="vocab_size must be an integer"):
            kind.train("abc", 10.0)
        with pytest.raises(TypeError, match="a corpus is a str"):
            kind.train(["abc"], 100)
        with pytest.raises(TypeError, match="the count of 'abc'"):
            kind.train({"abc": 1.5}, 100)
        with pytest.raises(TrainingError, match="at least 1, not 0"):
            kind.train({"abc": 0}, 100)
        with pytest.raises(TypeError, match="text must be a str"):
            trained[name].encode(b"abc")
        for wrong in (-1, len(trained[name])):
            with pytest.raises(UnknownTokenError, match=f"no token with the id {wrong} "):
                trained[name].decode([1, wrong])
        with pytest.raises(TypeError, match="not an integer"):
            trained[name].decode([1.0])
        assert issubclass(TrainingError, BPELabError)


def test_fuzzed_texts_come_back_where_nothing_is_unknown():
    rng = random.Random(4)
    for _ in range(amount(200, 5_000)):
        text = fuzz_text(rng)
        if not text:
            continue
        for tokenizer in (CharacterTokenizer.train(text, 10_000), UnigramTokenizer.train(text, 10_000)):
            if "\u2581" not in text:
                assert tokenizer.unknown_count(text) == 0
                assert tokenizer.decode(tokenizer.encode(text)) == valid_text(text)


@given(
    words=st.dictionaries(st.text("abc", min_size=1, max_size=8), st.integers(1, 9), min_size=1, max_size=8),
    choices=st.lists(st.integers(0, 99), max_size=8),
)
def test_pair_counts_are_those_of_counting_anew(words, choices):
    sequences = [([ord(char) for char in word], number) for word, number in words.items()]
    kept = PairCounts(sequences)
    for new, choice in enumerate(choices, start=1_000):
        counts = count_pairs(sequences)
        assert {pair: n for pair, n in kept.pairs.items() if n} == counts
        for symbol in {symbol for ids, _ in sequences for symbol in ids}:
            assert kept.symbols[symbol] == sum(ids.count(symbol) * n for ids, n in sequences)
        if not counts:
            break
        pair = sorted(counts)[choice % len(counts)]
        before = count_pairs(sequences)
        sequences = [(replace_pair(ids, pair, new), n) for ids, n in sequences]
        after = count_pairs(sequences)
        changed = kept.merge(pair, new)
        assert changed >= {p for p in before.keys() | after.keys() if before.get(p, 0) != after.get(p, 0)}


def test_importing_pulls_in_nothing_heavy():
    import subprocess
    import sys

    program = "import sys, bpelab.baselines; print(*{'numpy', 'tokenizers', 'IPython'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "\n"
