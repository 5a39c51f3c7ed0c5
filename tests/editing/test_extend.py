"""Continued training: against the textbook, against a continuation that is written out, and what must stay."""

import json
import random

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.editing import extend, prune
from bpelab.errors import BPELabError, TrainingError
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.trainers.continue_naive import continue_naive
from bpelab.trainers.train import TrainingStopped

from ..conftest import amount
from ..random_tokenizers import KINDS, random_corpus, random_text, random_tokenizer
from .written_out import extended, pieces_of

pytestmark = pytest.mark.filterwarnings("ignore:training stopped")


@pytest.mark.parametrize("kind", KINDS)
def test_a_continuation_that_is_written_out(kind):
    """Equal tokenizers, equal ids; and text in which no new token occurs has the ids that it had."""
    untouched = touched = 0
    for seed in range(amount(4, 500 // len(KINDS) + 1)):
        rng = random.Random(f"{kind} {seed}")
        old, texts = random_tokenizer(rng, kind), random_corpus(rng)
        number, least = rng.randint(1, 25), rng.choice((1, 2, 2, 3))
        new, expected = extend(old, texts, number, min_frequency=least), extended(old, texts, number, least)
        assert new.model == expected.model and new == expected, seed
        assert new.special_tokens == old.special_tokens and old.model.tokens.items() <= new.model.tokens.items()
        added = new.model.tokens.keys() - old.model.tokens.keys()
        assert sorted(added) == list(range(old.n_vocab, old.n_vocab + len(added)))
        for text in [*texts, *(random_text(rng) for _ in range(8))]:
            ids = new.encode(text)
            assert ids == expected.encode(text)
            if added.isdisjoint(ids):
                untouched += 1
                assert ids == old.encode(text), (seed, text)
            else:
                touched += 1
            if old.model.is_byte_level:
                assert new.decode(ids) == text
    assert touched > 3 and untouched > 3


def test_training_that_is_interrupted_and_continued():
    """On the same text it learns what it would have learned; the textbook's continuation says so, too."""
    for seed in range(amount(15, 200)):
        rng = random.Random(seed)
        texts, pattern = [*random_corpus(rng)] * 2, rng.choice(("gpt2", "cl100k", None))
        first, more = rng.randint(1, 20), rng.randint(1, 20)
        whole = BPETokenizer.train(texts, 256 + first + more, pattern=pattern)
        begun = BPETokenizer.train(texts, 256 + first, pattern=pattern)
        assert extend(begun, texts, more) == whole, seed
        words: dict[bytes, int] = {}
        for piece in (piece.encode() for text in texts for piece in pieces_of(begun, text)):
            words[piece] = words.get(piece, 0) + 1
        found = [merge.left + merge.right for merge in continue_naive(words, begun.model, more)]
        assert found == [whole.model.tokens[256 + first + at] for at in range(len(found))]
        assert len(found) == len(whole) - len(begun)


def test_a_token_that_no_merge_makes_stays_what_it_is():
    """In a table of ranks `abcd` could come to life from a new `abc`; and `bc`, which has an id, isn't made."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abcd": 300}
    old = BPETokenizer(BPEModel.from_ranks(ranks, ignore_merges=False), pattern="gpt2")
    new = extend(old, "abcd xabcd bcd " * 9, 20)
    assert b"abc" not in new.model.ids and b"bcd" not in new.model.ids and b"bc" in new.model.ids
    assert 300 not in new.encode("abcd") and new.encode("abcx")[-1] == ord("x")
    vocab = {bytes([byte]): byte for byte in range(256)} | {b"bc": 300}
    listed = BPETokenizer(BPEModel.from_vocab(vocab, []), pattern="gpt2")
    assert 300 not in extend(listed, "abc bc bc " * 9, 9).encode("abc bc")


def test_special_tokens_are_cut_out_and_never_made():
    old = BPETokenizer.train("low lower", 258, special_tokens=["<|end|>", "ee"], pattern=None)
    new = extend(old, "lo<|end|>lo<|end|>lo feed need " * 9, 60)
    assert not any(len(token) > 1 and set(token) & set(b"<|>") for token in new.model.tokens.values())
    assert b"ee" not in new.model.ids and new.special_tokens == old.special_tokens


def test_characters_that_were_missing_become_tokens():
    rng = random.Random(3)
    old = next(
        made for made in iter(lambda: random_tokenizer(rng, "scores"), None) if made.model.initial_symbols.byte_tokens
    )
    text = "ŋoŋ ŋoŋ ŋi"
    new = extend(old, text, 3)
    assert new.model.alphabet["ŋ".encode()] == old.n_vocab  # the most frequent of all
    assert len(new.encode(text)) < len(old.encode(text)) and new.decode(new.encode(text)) == text
    assert prune(new, remove=range(old.n_vocab, new.n_vocab)).tokenizer == old


def test_new_tokens_keep_the_habits_of_the_old():
    rng = random.Random(1)
    old = random_tokenizer(rng, "scores")
    new = extend(old, "the low 12 12 12 the low " * 20, 40)
    added = [new.model.tokens[token_id].decode() for token_id in range(old.n_vocab, new.n_vocab)]
    assert added and not any("▁" in token[1:] or "12" in token for token in added)
    superwords = BPETokenizer.train("one of the best of the rest " * 9, 300, superwords="superbpe")
    for words in (1, 2, 3):
        more = extend(superwords, "all of the cats and all of the dogs: all of " * 9, 60, max_words=words)
        new_tokens = [more.model.tokens[token_id] for token_id in range(superwords.n_vocab, more.n_vocab)]
        assert max(len(token.split()) for token in new_tokens) == words
        assert not any(b": " in token for token in new_tokens)


def test_the_same_from_texts_files_and_records(tmp_path):
    old = BPETokenizer.train("low lower", 258)
    texts = ["the newest of the new", "the widest"] * 3
    expected = extend(old, texts, 12)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    (tmp_path / "b.txt").write_text("\n\n".join(texts))
    assert extend(old, tmp_path / "a.jsonl", 12, field="body") == expected
    assert extend(old, iter(texts), 12) == expected
    assert len(extend(old, [tmp_path / "b.txt"], 4)) == len(old) + 4


def test_what_is_refused():
    old = BPETokenizer.train("low lower", 258)
    for arguments in ({"new_tokens": 0}, {"min_frequency": 0}, {"max_words": 0}):
        with pytest.raises(BPELabError, match=next(iter(arguments))):
            extend(old, "low", **arguments)
    with pytest.raises(TypeError, match="new_tokens"):
        extend(old, "low", 2.5)
    with pytest.raises(TrainingError, match="empty"):
        extend(old, "", 2)
    with pytest.warns(TrainingStopped, match="at 259 tokens instead of 267"):
        assert len(extend(old, "xy xy", 9)) == len(old) + 1
    initial_symbols = InitialSymbols(True, prefix=b"##")
    tokens = {0: b"a", 1: b"##b", 2: b"ab"}
    marked = BPETokenizer(
        BPEModel(tokens, {(0, 1): (0, 2)}, {b"a": 0, b"##b": 1}, initial_symbols=initial_symbols), pattern=None
    )
    with pytest.raises(TrainingError, match="##"):
        extend(marked, "ab", 2)
