"""Runs of one byte, which runs.h encodes in its own way: the ids are those of the heap, whatever the merges are."""

import random

import pytest

from bpelab import BPEModel, BPETokenizer
from bpelab.encoders import ENCODERS

from ..conftest import amount, encoding, needs_extension

needs_extension()
BYTES = [bytes([byte]) for byte in range(256)]


def same(model: BPEModel, text: bytes) -> None:
    native = BPETokenizer(model, encoder="native")
    assert native.encode_piece(text) == list(ENCODERS["heap"](model).encode_piece(text)), (model.tokens, len(text))


def test_ranks_in_any_order():
    """Tables that no training makes too, in which a longer token may come before its parts."""
    rng = random.Random(1)
    for _ in range(amount(400, 20_000)):
        lengths = rng.sample(range(2, 40), rng.randrange(1, 12))
        if rng.random() < 0.5:
            lengths.sort()
        tokens = [*BYTES, *(b"-" * length for length in lengths)]
        model = BPEModel.from_ranks(dict(zip(tokens, range(len(tokens)))), ignore_merges=False)
        for _ in range(4):
            same(model, b"-" * rng.randrange(41, 400))


def test_merges_that_training_could_make():
    rng = random.Random(2)
    for _ in range(amount(400, 20_000)):
        tokens, merges, seen = [b"-"], [], {b"-"}
        for _ in range(rng.randrange(1, 12)):
            left, right = rng.choice(tokens[-3:]), rng.choice(tokens[-3:])
            if left + right not in seen:
                seen.add(left + right)
                tokens.append(left + right)
                merges.append((left, right))
        if merges:
            model = BPEModel.from_merges(merges)
            for _ in range(4):
                same(model, b"-" * rng.randrange(41, 400))


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
def test_published_vocabularies(name):
    theirs = encoding(name)
    ours = BPETokenizer.from_tiktoken(name, encoder="native")
    rng = random.Random(name)
    for byte in range(128):
        for text in (chr(byte) * rng.randrange(41, 3_000), "a" + chr(byte) * rng.randrange(41, 300) + "b"):
            assert ours.encode_ordinary(text) == theirs.encode_ordinary(text), text[:50]
