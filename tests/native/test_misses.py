"""Misses: pieces that wait for others and are merged side by side have the ids of the heap, in the text's order."""

import random

import pytest

from bpelab import BPEModel, native
from bpelab.encoders import HeapEncoder
from bpelab.pretokenizers import Split

from ..conftest import amount

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")


def random_model(rng: random.Random, *, in_order: bool) -> BPEModel:
    """A model of words over few letters; `in_order` numbers merges as their tokens."""
    tokens = {bytes([byte]): byte for byte in range(256)}
    words = ["".join(rng.choices("abcdé ", k=rng.randrange(2, 9))).encode() for _ in range(rng.randrange(5, 300))]
    if not in_order:
        merges = []
        for _ in range(rng.randrange(1, 200)):
            left, right = rng.choice(list(tokens)), rng.choice(list(tokens))
            if left + right not in tokens and len(left + right) < 12:
                merges.append((left, right))
                tokens[left + right] = len(tokens)
        return BPEModel.from_merges(merges)
    return BPEModel.from_ranks(tokens | {w: 256 + i for i, w in enumerate(dict.fromkeys(words))}, ignore_merges=False)


@pytest.mark.parametrize("in_order", [True, False])
def test_ids_are_in_the_order_of_the_text(in_order):
    """Words of any length, many of them new, some with parts that are known: more than are ever pending at once."""
    rng, pattern = random.Random(f"misses {in_order}"), Split("gpt2")
    for _ in range(amount(30, 1_000)):
        model = random_model(rng, in_order=in_order)
        encoder, heap = native.encoder_for(model, pattern), HeapEncoder(model)
        assert encoder is not None
        known = ["".join(rng.choices("abcdé", k=rng.randrange(1, 45))) for _ in range(40)]
        for _ in range(4):  # the first text is new altogether, the others less and less
            words = [
                rng.choice(known) if rng.random() < 0.5 else "".join(rng.choices("abcdé", k=rng.randrange(1, 45)))
                for _ in range(rng.randrange(1, 700))
            ]
            text = " ".join(words)
            expected = [token for piece in pattern.split(text) for token in heap.encode_piece(piece.encode())]
            assert encoder.encode(text) == expected


def test_a_short_text_waits_for_nothing():
    """Below 512 bytes misses are merged at once, and above they wait: the ids are the same on both sides of it."""
    model, pattern = random_model(random.Random(5), in_order=True), Split("gpt2")
    heap = HeapEncoder(model)
    for size in range(480, 700):
        text = "".join(random.Random(size).choices("abcd    é", k=size))
        expected = [token for piece in pattern.split(text) for token in heap.encode_piece(piece.encode())]
        assert native.encoder_for(model, pattern).encode(text) == expected


def test_long_ascii_is_cut_where_nothing_merges():
    """Letters at random are one long piece. It is cut between letters that no token has together, and stays exact."""
    rng = random.Random(7)
    for _ in range(amount(40, 1_000)):
        letters = "abcdefghij"[: rng.randrange(2, 11)]
        tokens = {"".join(rng.choices(letters, k=rng.randrange(2, 6))).encode() for _ in range(rng.randrange(1, 60))}
        ranks = {bytes([byte]): byte for byte in range(256)} | {t: 256 + i for i, t in enumerate(sorted(tokens))}
        model = BPEModel.from_ranks(ranks, ignore_merges=False)
        text = "".join(rng.choices(letters, k=rng.randrange(30, 5_000)))
        assert native.encoder_for(model, None).encode(text) == HeapEncoder(model).encode_piece(text.encode())
