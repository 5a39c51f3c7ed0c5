"""Ensembles: the mean of their models' next bytes, which have tokenizers of their own, and texts drawn from it."""

import math
from collections import Counter

import pytest

from bpelab import BPETokenizer
from bpelab.chat import ChatSession
from bpelab.prefix import ByteModel, ensemble

from .test_byte_model import Table

T = BPETokenizer.train("low lower lowest " * 9, 262)
OTHER = BPETokenizer.train("slow slower slowest owls " * 9, 265)


def models():
    return [
        ByteModel(Table(seed, range(tokenizer.n_vocab), tokenizer.n_vocab).logits, tokenizer, stop=[104])
        for seed, tokenizer in enumerate((T, OTHER))
    ]


def test_the_mean_of_next_bytes():
    one, other = models()
    together = ensemble([one, other], [1, 3])
    for prompt in ("", "slo", "low ", b"\xc3"):
        a, b, both = one.next_bytes(prompt), other.next_bytes(prompt), together.next_bytes(prompt)
        assert both.probabilities.keys() == a.probabilities.keys() | b.probabilities.keys()
        for byte, share in both.probabilities.items():
            expected = (a.probabilities.get(byte, 0) + 3 * b.probabilities.get(byte, 0)) / 4
            assert share == pytest.approx(expected, rel=1e-12)
        assert both.end == pytest.approx((a.end + 3 * b.end) / 4)
        assert math.fsum([*both.probabilities.values(), both.end]) == pytest.approx(1)


def test_a_model_with_itself():
    one = models()[0]
    alone, both = one.next_bytes("lo"), ensemble([one, one]).next_bytes("lo")
    assert both.probabilities == pytest.approx(alone.probabilities) and both.end == pytest.approx(alone.end)


def test_texts_are_drawn_from_it():
    together = ensemble(models())
    assert bytes(together.sample("lo", 9, seed=1)) == bytes(together.sample("lo", 9, seed=1))
    texts = [bytes(together.sample("lo", 1, seed=seed)) for seed in range(400)]
    after, drawn = together.next_bytes("lo"), Counter(texts)
    byte = max(after.probabilities, key=after.probabilities.get)
    assert drawn[bytes([byte])] / 400 == pytest.approx(after.probabilities[byte], abs=0.08)
    assert drawn[b""] / 400 == pytest.approx(after.end, abs=0.08)


def test_two_tokenizers_write_the_shipped_models_answer():
    """The shipped model, and one that counts bytes: the answer is the shipped model's."""
    shipped = ChatSession().byte_model("What is a token?")
    plain = BPETokenizer.train("abc", 256)
    uniform = ByteModel(lambda ids: [0.0] * 256, plain)
    after = ensemble([shipped, uniform]).next_bytes("A toke")
    assert after.probabilities[ord("n")] == pytest.approx(0.5, abs=0.02)
    text = bytes(ensemble([shipped, uniform], [99999, 1]).sample("A toke", 10, seed=0))
    assert text == b"n is a pie"


def test_what_cannot_be_an_ensemble():
    with pytest.raises(TypeError, match="models are one or more ByteModels"):
        ensemble([])
    with pytest.raises(TypeError, match="models are one or more ByteModels"):
        ensemble([T])
    for weights in ([1], [1, 0], [1, math.inf], [1, math.nan]):
        with pytest.raises(ValueError, match="weights are a positive number for each of the 2 models"):
            ensemble(models(), weights)
