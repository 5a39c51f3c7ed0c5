"""The loop that all backends share: what it yields, and why it ends."""

import numpy as np
import pytest

from bpelab.chat.backends import close_backends, open_backend
from bpelab.chat.backends.base import Backend
from bpelab.chat.generation import generate
from bpelab.chat.models.find import find_model
from bpelab.chat.sampling import GREEDY, Sampling, most_likely
from bpelab.errors import ConversationError

from .tiny import write_tiny_llama


class Counting(Backend):
    """A model that goes on with the number after the last."""

    name = "counting"

    def __init__(self, context=50):
        super().__init__(device="CPU", context=context, vocab_size=30, kv_bytes=1)
        self.fed = []

    def _keep(self, count):
        return count

    def _feed(self, ids):
        self.fed.append(ids)
        logits = np.zeros(30, np.float32)
        logits[(ids[-1] + 1) % 30] = 5
        return logits


def run(backend, ids, sampling=GREEDY, **options):
    """(ids, reason)"""
    made, steps = [], generate(backend, ids, sampling, **options)
    while True:
        try:
            made.append(next(steps))
        except StopIteration as end:
            return [token.id for token in made], end.value


def test_why_it_ends():
    assert run(Counting(), [1, 2], max_new_tokens=3) == ([3, 4, 5], "length")
    assert run(Counting(), [1, 2], max_new_tokens=9, stop=frozenset({6, 9})) == ([3, 4, 5], "stop")
    assert run(Counting(), [1, 2], max_new_tokens=0) == ([], "length")
    assert run(Counting(context=4), [1, 2], max_new_tokens=9) == ([3, 4, 5], "context")
    assert run(Counting(context=2), [1, 2], max_new_tokens=9) == ([3], "context")
    assert run(Counting(), [1, 2], max_new_tokens=9, cancelled=lambda: True) == ([], "cancelled")


def test_a_prompt_that_fills_the_context_and_one_more():
    with pytest.raises(ConversationError, match="3 ids don't fit into the context of 2"):
        run(Counting(context=2), [1, 2, 3], max_new_tokens=1)


def test_cancelled_while_a_long_prompt_is_read():
    backend, asked = Counting(context=5_000), []

    def cancelled():
        asked.append(1)
        return len(asked) > 3

    assert run(backend, [1] * 4_000, max_new_tokens=9, cancelled=cancelled) == ([], "cancelled")
    assert len(backend.fed) == 2
    assert run(backend, [1] * 4_000, max_new_tokens=2) == ([2, 3], "length")


def test_cancelled_between_tokens():
    made = []
    for token in generate(Counting(), [1], max_new_tokens=20, cancelled=lambda: len(made) == 4):
        made.append(token.id)
    assert made == [2, 3, 4, 5]


def test_each_token_is_fed_once():
    backend = Counting()
    run(backend, [1, 2, 3], max_new_tokens=4)
    assert backend.fed == [[1, 2, 3], [4], [5], [6]]
    run(backend, [1, 2, 3, 4, 5, 9], max_new_tokens=1)
    assert backend.fed[-1] == [9]
    assert backend.reused == 5


def test_what_a_token_says():
    tokens = list(generate(Counting(), [1], Sampling(repetition_penalty=1.5), max_new_tokens=3))
    expected = float(np.exp(5) / (np.exp(5) + 29))
    assert [token.probability for token in tokens] == pytest.approx([expected] * 3)
    assert 0 <= tokens[0].seconds <= tokens[1].seconds <= tokens[2].seconds


def test_the_most_likely_tokens():
    """Before any setting, in order, ties by id; never more than there are."""
    made = list(generate(Counting(), [1], Sampling(repetition_penalty=1.5), max_new_tokens=2, top_tokens=3))
    each, other = float(np.exp(5) / (np.exp(5) + 29)), float(1 / (np.exp(5) + 29))
    assert [[token for token, _ in one.top] for one in made] == [[2, 0, 1], [3, 0, 1]]
    assert [share for _, share in made[0].top] == pytest.approx([each, other, other])
    assert made[0].top[0] == (made[0].id, made[0].probability)
    assert next(generate(Counting(), [1], max_new_tokens=1)).top == ()
    rng = np.random.default_rng(5)
    for _ in range(50):
        logits = rng.integers(-3, 4, 20).astype(np.float32)  # with many ties
        logits[rng.integers(20)] = -np.inf
        shares = np.exp(logits.astype(float)) / np.exp(logits.astype(float)).sum()
        expected = sorted(range(20), key=lambda token: (-logits[token], token))
        for count in (1, 7, 20, 99):
            best = most_likely(logits, count)
            assert [token for token, _ in best] == expected[:count]
            assert [share for _, share in best] == pytest.approx(shares[expected[:count]])


def test_the_row_is_what_the_penalty_counts():
    """A model that wants to go on in a circle, and a penalty that lets it not."""
    assert run(Counting(), list(range(30)), max_new_tokens=2)[0] == [0, 1]

    class Torn(Counting):
        def _feed(self, ids):
            logits = super()._feed(ids)
            logits[29] = 4.9
            return logits

    assert run(Torn(), [1], Sampling(repetition_penalty=1.1), max_new_tokens=3)[0] == [2, 3, 4]
    assert run(Torn(), [2, 1], Sampling(repetition_penalty=1.1), max_new_tokens=1)[0] == [29]


def test_a_seed_repeats_an_answer(tmp_path):
    backend = open_backend("reference", find_model(write_tiny_llama(tmp_path)))
    try:
        sampling = Sampling(temperature=1.2, top_k=40, seed=11)
        first = run(backend, [5, 6, 7], sampling, max_new_tokens=30)
        assert run(backend, [5, 6, 7], sampling, max_new_tokens=30) == first
        assert run(backend, [5, 6, 7], Sampling(temperature=1.2, top_k=40, seed=12), max_new_tokens=30) != first
        whole = run(backend, [5, 6, 7], max_new_tokens=30)[0]
        assert whole == [int(backend.next_logits([5, 6, 7, *whole[:n]]).argmax()) for n in range(30)]
    finally:
        close_backends()
