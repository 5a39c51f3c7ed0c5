"""Each baseline against a second opinion: brute force, a plain definition, or Hugging Face's tokenizers."""

import itertools
import math
import random
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from bpelab.baselines import (
    CharacterTokenizer,
    SchoolbookBPE,
    UnigramTokenizer,
    WordPieceTokenizer,
    WordTokenizer,
)
from bpelab.baselines.common import words_and_marks
from bpelab.baselines.lattice import expected_counts, viterbi
from bpelab.baselines.unigram import marked_words
from bpelab.errors import ModelError, TrainingError
from bpelab.notebook import book_text
from bpelab.trainers.naive import count_pairs, replace_pair

TEXT = book_text()[:60_000]
SMALL_WORDS = st.dictionaries(st.text("abc", min_size=1, max_size=6), st.integers(1, 9), min_size=1, max_size=8)


def cuts(word: str) -> list[list[str]]:
    """Every way to cut a word."""
    out = []
    for borders in itertools.product([False, True], repeat=len(word) - 1):
        places = [0, *(place for place, cut in enumerate(borders, start=1) if cut), len(word)]
        out.append([word[a:b] for a, b in zip(places, places[1:])])
    return out


class TestCharactersAndWords:
    def test_characters(self):
        tokenizer = CharacterTokenizer.train("aab\ud800", 3)
        assert tokenizer.vocabulary == ["<unk>", "a", "b"]
        assert tokenizer.decode(tokenizer.encode("abc")) == "ab\ufffd"
        with pytest.raises(ValueError, match="not one character"):
            CharacterTokenizer(["ab"])
        with pytest.raises(ValueError, match="given twice"):
            CharacterTokenizer(["a", "a"])

    def test_words(self):
        tokenizer = WordTokenizer.train("a a b b c", 10)
        assert tokenizer.vocabulary == ["<unk>", "a", "b"]
        assert tokenizer.unknown_count("a c d") == 2
        assert WordTokenizer.train("a a b b c", 10, min_frequency=1).vocabulary == ["<unk>", "a", "b", "c"]
        with pytest.raises(ValueError, match="not one word"):
            WordTokenizer(["a b"])
        with pytest.raises(ValueError, match="given twice"):
            WordTokenizer(["a", "a"])

    def test_words_and_marks(self):
        assert words_and_marks("नमस्ते दुनिया।") == ["नमस्ते", "दुनिया", "।"]
        assert words_and_marks("snake_case 3€\t\n") == ["snake", "_", "case", "3", "€"]
        assert "".join(words_and_marks(TEXT)) == "".join(TEXT.split())


class TestSchoolbook:
    @given(words=SMALL_WORDS, merges=st.integers(0, 12))
    def test_learns_what_counting_anew_learns(self, words, merges):
        alphabet = sorted(set("".join(words)))
        tokenizer = SchoolbookBPE.train(words, len(alphabet) + 2 + merges)
        spelled = [([*(alphabet.index(c) + 2 for c in word), 1], n) for word, n in words.items()]
        learned = []
        for new in range(len(alphabet) + 2, len(alphabet) + 2 + merges):
            counts = count_pairs(spelled)
            pair = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
            if pair is None or counts[pair] < 2:
                break
            learned.append(tuple(tokenizer.vocabulary[i] for i in pair))
            spelled = [(replace_pair(ids, pair, new), n) for ids, n in spelled]
        assert tokenizer.merges == learned
        for (ids, _), word in zip(spelled, words):
            assert tokenizer.encode(word) == ids  # encoding the training words repeats the training

    def test_encodes_one_merge_at_a_time_alike(self):
        """Merging all places of the lowest rank at once, against one place at a time, as in encoders/naive.py."""
        tokenizer = SchoolbookBPE.train(TEXT, 1_500)
        first = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
        for word in sorted(set(TEXT.split()))[:1_500]:
            pieces = [*word, "</w>"]
            while ways := [(first[p], at) for at, p in enumerate(zip(pieces, pieces[1:])) if p in first]:
                _, at = min(ways)
                pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
            assert tokenizer.tokens(word) == pieces

    def test_an_end_mark_in_the_text_is_text(self):
        text = "</w> a</w>b </w></w> <unk>"
        tokenizer = SchoolbookBPE.train(" ".join([text] * 9), 200)
        assert tokenizer.decode(tokenizer.encode(text)) == text

    def test_white_space_becomes_one_space(self):
        tokenizer = SchoolbookBPE.train("a b", 9)
        assert tokenizer.decode(tokenizer.encode(" a\t\nb\u3000")) == "a b"
        assert tokenizer.decode(tokenizer.encode("a?b")) == "a\ufffdb"

    def test_refuses_merges_that_make_no_sense(self):
        for merges in ([(2, 9)], [(0, 2)], [(1, 2)], [(2, 2), (2, 2)]):
            with pytest.raises(ModelError, match="can't join"):
                SchoolbookBPE("ab", merges)
        with pytest.raises(TrainingError, match="5 are needed for 3 characters"):
            SchoolbookBPE.train("abc", 4)


class TestWordPiece:
    def test_encodes_as_hugging_face_does(self):
        tokenizers = pytest.importorskip("tokenizers")
        ours = WordPieceTokenizer.train(TEXT[:30_000], 1_200)
        vocabulary = {piece: number for number, piece in enumerate(ours.vocabulary)}
        theirs = tokenizers.Tokenizer(
            tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=20_000)
        )
        words = [*sorted(set(words_and_marks(TEXT))), "a" * 500, "zyzzyva", "#", "Ünknown"]
        assert theirs.encode(words, is_pretokenized=True).ids == ours.encode(" ".join(words))
        assert ours.unknown_count(" ".join(words)) > 0

    @pytest.mark.parametrize("score", ["likelihood", "frequency"])
    @given(words=SMALL_WORDS, merges=st.integers(0, 10))
    def test_learns_by_the_score(self, score, words, merges):
        spelled = {word: [word[0], *("##" + char for char in word[1:])] for word in words}
        pieces = sorted({piece for spelling in spelled.values() for piece in spelling})
        size = len(pieces) + 1 + merges
        while len(pieces) + 1 < size:
            sequences = [([pieces.index(piece) for piece in spelled[word]], n) for word, n in words.items()]
            pairs, single = count_pairs(sequences), Counter()
            for ids, n in sequences:
                for i in ids:
                    single[i] += n
            chance = {p: single[p[0]] * single[p[1]] if score == "likelihood" else 1 for p in pairs}
            scores = {p: n / chance[p] for p, n in pairs.items() if n >= 2}
            if not scores:
                break
            left, right = min(scores, key=lambda pair: (-scores[pair], pair))
            piece = pieces[left] + pieces[right].removeprefix("##")
            if piece not in pieces:
                pieces.append(piece)
            new = pieces.index(piece)
            for (ids, _), word in zip(sequences, words):
                spelled[word] = [pieces[i] for i in replace_pair(ids, (left, right), new)]
        assert WordPieceTokenizer.train(words, size, score=score).vocabulary == ["[UNK]", *pieces]

    def test_a_word_is_unknown_as_a_whole(self):
        tokenizer = WordPieceTokenizer(["a", "##b"])
        assert tokenizer.tokens("ab abx ba a") == ["a", "##b", "[UNK]", "[UNK]", "a"]
        assert tokenizer.decode(tokenizer.encode("ab  a abx")) == "ab a [UNK]"
        for wrong in (["a", "a"], ["##"], [""]):
            with pytest.raises(ValueError, match="empty or given twice"):
                WordPieceTokenizer(wrong)
        with pytest.raises(ValueError, match='"likelihood" or "frequency", not \'bpe\''):
            WordPieceTokenizer.train("a b", 10, score="bpe")


class TestUnigram:
    @given(
        word=st.text("abcx", min_size=1, max_size=9),
        scores=st.dictionaries(st.text("abc", min_size=1, max_size=4), st.floats(-20, 0), min_size=1, max_size=12),
    )
    def test_viterbi_finds_what_brute_force_finds(self, word, scores):
        def total(cut):
            known = [scores.get(piece, -30.0 if len(piece) == 1 else -math.inf) for piece in cut]
            return sum(known)

        pieces, value = viterbi(word, scores, max(map(len, scores)), -30.0)
        assert "".join(pieces) == word
        assert math.isclose(value, max(map(total, cuts(word))), abs_tol=1e-9)
        assert math.isclose(value, total(pieces), abs_tol=1e-9)

    @given(
        words=SMALL_WORDS,
        more=st.dictionaries(st.text("abc", min_size=2, max_size=4), st.floats(-9, 0), max_size=8),
    )
    def test_expected_counts_are_those_of_all_cuts(self, words, more):
        scores = {"a": -1.0, "b": -2.0, "c": -3.0, **more}
        expected: Counter[str] = Counter()
        for word, occurrences in words.items():
            likely = {
                tuple(cut): math.exp(sum(scores[p] for p in cut)) for cut in cuts(word) if scores.keys() >= {*cut}
            }
            for cut, probability in likely.items():
                for piece in cut:
                    expected[piece] += occurrences * probability / sum(likely.values())
        found = expected_counts(words, scores)
        assert found.keys() == expected.keys()
        for piece, count in expected.items():
            assert math.isclose(found[piece], count, rel_tol=1e-9)

    def test_encodes_as_hugging_face_does(self):
        tokenizers = pytest.importorskip("tokenizers")
        ours = UnigramTokenizer.train(TEXT[:30_000], 1_200)
        scored = [("<unk>", 0.0), *ours.log_probabilities.items()]
        theirs = tokenizers.Tokenizer(tokenizers.models.Unigram(scored, unk_id=0))
        different = 0
        words = sorted(set(marked_words(TEXT)))
        for word in words:
            pieces, value = ours.best_cut(word)
            if any(piece not in ours.log_probabilities for piece in pieces):
                continue  # neighbours that are unknown are one token there
            cut = theirs.encode(word).tokens
            assert math.isclose(sum(map(ours.log_probabilities.__getitem__, cut)), value, rel_tol=1e-9)
            different += cut != pieces
        assert len(words) > 2_000
        assert different <= len(words) // 200  # equally likely cuts only

    def test_training_raises_the_likelihood(self):
        words = Counter(marked_words(TEXT[:8_000]))
        scores = {char: -5.0 for word in words for char in word}
        scores |= {word[:2]: -5.0 for word in words if len(word) > 1}
        before = -math.inf
        for _ in range(5):
            expected = expected_counts(words, scores)
            total = sum(expected.values())
            scores = {piece: math.log(count / total) for piece, count in expected.items()}
            after = 0.0
            for word, occurrences in words.items():
                forward = [1.0]
                for end in range(1, len(word) + 1):
                    forward.append(
                        sum(
                            forward[s] * math.exp(scores.get(word[s:end], -math.inf))
                            for s in range(max(0, end - 2), end)
                        )
                    )
                after += occurrences * math.log(forward[-1])
            assert after >= before - 1e-6
            before = after

    @pytest.mark.slow
    def test_every_text_without_unknowns_comes_back(self):
        tokenizer = UnigramTokenizer.train(book_text(), 2_000)
        assert tokenizer.unknown_count(book_text()) == 0
        assert tokenizer.decode(tokenizer.encode(book_text())) == book_text()
        assert len(tokenizer) == 2_000
        for text in (" ", "  ", " a ", "\n", "\n \n", "a\tb", " \u3000"):
            assert tokenizer.decode(tokenizer.encode(text)) == text

    def test_the_mark_itself_is_counted_as_unknown(self):
        tokenizer = UnigramTokenizer.train("a \u2581 b \u2581\u2581", 50)
        assert tokenizer.unknown_count("a\u2581b") == 1
        assert tokenizer.decode(tokenizer.encode("a\u2581b")) == "a\ufffdb"

    def test_a_very_long_word_is_no_underflow(self):
        word = "".join(random.Random(0).choices("abcdefghij", k=3_000))
        assert len(UnigramTokenizer.train(word, 100)) == 100

    def test_refuses_what_is_no_probability(self):
        for wrong in ({"a": 0.1}, {"": -1.0}, {"a": math.nan}, {"a": -math.inf}):
            with pytest.raises(ModelError, match="log probability"):
                UnigramTokenizer(wrong)
        with pytest.raises(ModelError, match="at least one token"):
            UnigramTokenizer({})
        with pytest.raises(TrainingError, match="between 0 and 1"):
            UnigramTokenizer.train("abc", 10, keep=1.0)
