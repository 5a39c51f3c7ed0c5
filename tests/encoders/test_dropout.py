"""BPE-dropout: its two ends, its seed, and its shares, which are those of tokenizers."""

import random
from collections import Counter
from math import sqrt

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.encoders import HeapEncoder
from bpelab.encoders.dropout import DropoutEncoder
from bpelab.notebook import book_text

from ..conftest import amount, random_merges


def test_nothing_left_out_is_bpe():
    rng = random.Random(100)
    for _ in range(amount(200, 5_000)):
        model = BPEModel.from_merges(random_merges(rng, b"abc", rng.randint(1, 14)))
        piece = bytes(rng.choices(b"abcd", k=rng.randint(0, 30)))
        assert DropoutEncoder(model, 0.0, rng).encode_piece(piece) == HeapEncoder(model).encode_piece(piece)


def test_the_smallest_draw_leaves_nothing_out(small_model):
    class Nought(random.Random):
        def random(self):
            return 0.0

    assert DropoutEncoder(small_model, 0.0, Nought()).encode_piece(b"lower") == HeapEncoder(small_model).encode_piece(
        b"lower"
    )


def test_everything_left_out_is_the_bytes(small_model):
    assert DropoutEncoder(small_model, 1.0, random.Random(1)).encode_piece(b"lowest") == list(b"lowest")


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_every_result_stands_for_the_piece(probability, small_model):
    encoder = DropoutEncoder(small_model, probability, random.Random(2))
    for _ in range(amount(200, 5_000)):
        ids = encoder.encode_piece(b" lowest aaaaaa lower")
        assert b"".join(small_model.tokens[token_id] for token_id in ids) == b" lowest aaaaaa lower"


def test_a_seed_repeats_it():
    tokenizer = BPETokenizer.train(book_text()[:30_000], 500, special_tokens=["<|end|>"])
    text = book_text()[:2_000]
    one = tokenizer.encode_with_dropout(text, 0.3, seed=7)
    assert one == tokenizer.encode_with_dropout(text, 0.3, seed=7)
    assert one != tokenizer.encode_with_dropout(text, 0.3, seed=8)
    assert tokenizer.decode(one) == text
    assert len(one) > len(tokenizer.encode(text))
    assert tokenizer.encode_with_dropout(text, 0.0) == tokenizer.encode(text)
    assert tokenizer.encode_with_dropout("<|end|>", 1.0, allowed_special="all") == [499]
    assert tokenizer.encode(text) == tokenizer.encode(text)  # the cache has seen nothing of it


def test_the_probability(small_model):
    tokenizer = BPETokenizer(small_model)
    with pytest.raises(ValueError, match="asks for no dropout"):
        tokenizer.encode_with_dropout("low")
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="from 0 to 1"):
            tokenizer.encode_with_dropout("low", wrong)
    assert tokenizer.with_options(dropout=1.0).encode_with_dropout("low") == list(b"low")


@pytest.mark.parametrize(
    ("word", "probability"), [("lowest", 0.2), ("lowest", 0.6), ("aaaaaa", 0.4), ("lowerest", 0.1)]
)
def test_the_shares_of_tokenizers(word, probability, small_model):
    """Each way to cut a word is as frequent here as there, within six standard errors."""
    tokenizers = pytest.importorskip("tokenizers")
    texts = {number: token.decode("latin-1") for number, token in small_model.tokens.items()}
    merges = [(texts[a], texts[b]) for a, b in sorted(small_model.merges, key=lambda pair: small_model.merges[pair][0])]
    vocab = {text: number for number, text in texts.items()}
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges, dropout=probability))
    ours = DropoutEncoder(small_model, probability, random.Random(3))
    number = amount(6_000, 100_000)
    here = Counter(tuple(ours.encode_piece(word.encode())) for _ in range(number))
    there = Counter(tuple(theirs.encode(word).ids) for _ in range(number))
    for way in here | there:
        share = (here[way] + there[way]) / (2 * number)
        allowed = 6 * sqrt(2 * share * (1 - share) / number)
        assert abs(here[way] - there[way]) / number <= allowed, (way, here[way], there[way])


def test_long_pieces(small_model):
    ids = DropoutEncoder(small_model, 0.5, random.Random(4)).encode_piece(b"a" * 20_000)
    assert b"".join(small_model.tokens[token_id] for token_id in ids) == b"a" * 20_000
