"""The settings of sampling against transformers' own logits processors, in its order."""

import math
import random

import numpy as np

from bpelab.chat.sampling import Sampling

from ..conftest import amount
from .conftest import need

torch = need("torch")
need("transformers")

from transformers.generation import logits_process as theirs  # noqa: E402

SEARCH_WINDOW = 1e-5


def left_by_transformers(settings, logits, row):
    """The probabilities of all tokens as transformers has them before it draws."""
    steps = theirs.LogitsProcessorList([theirs.RepetitionPenaltyLogitsProcessor(settings.repetition_penalty)])
    steps.append(theirs.TemperatureLogitsWarper(settings.temperature))
    if settings.top_k:
        steps.append(theirs.TopKLogitsWarper(settings.top_k))
    if settings.top_p < 1:
        steps.append(theirs.TopPLogitsWarper(settings.top_p))
    if settings.min_p:
        steps.append(theirs.MinPLogitsWarper(settings.min_p))
    scores = steps(torch.tensor([row]), torch.tensor(logits, dtype=torch.float64)[None])
    return scores.softmax(dim=-1)[0].numpy()


def test_the_same_tokens_are_left_with_the_same_probabilities():
    """Each token's share of the numbers between 0 and 1 is what transformers draws it with."""
    rng, seen = random.Random(5), 0
    for _ in range(amount(400, 20_000)):
        size = rng.randrange(2, 60)
        logits = np.array([rng.gauss(0, rng.choice((0.3, 2, 8))) for _ in range(size)], np.float32)
        row = [rng.randrange(size) for _ in range(rng.randrange(1, 8))]
        settings = Sampling(
            temperature=rng.choice((0.3, 0.8, 1.0, 2.5)),
            top_k=rng.choice((0, 1, 3, 10, 100)),
            top_p=rng.choice((1.0, 0.95, 0.5, 0.1)),
            min_p=rng.choice((0.0, 0.05, 0.3)),
            repetition_penalty=rng.choice((1.0, 1.3, 0.8)),
            seed=0,
        )
        expected = left_by_transformers(settings, logits, row)
        ends = np.cumsum(expected)
        penalized = settings._penalize(logits.astype(np.float64), row)
        for _ in range(5):
            number = rng.random()
            if np.abs(ends - number).min() < SEARCH_WINDOW:
                continue
            assert settings._draw(penalized, number) == int(np.searchsorted(ends, number)), (settings, logits, row)
            seen += 1
        for token in np.flatnonzero(expected):  # the middle of each token's share
            middle = ends[token] - expected[token] / 2
            if expected[token] > SEARCH_WINDOW:
                assert settings._draw(penalized, middle) == token
    assert seen > 1_000


def test_the_penalty():
    logits = torch.tensor([[1.5, -2.0, 0.0, 4.0]], dtype=torch.float64)
    row = [0, 1, 1, 2]
    expected = theirs.RepetitionPenaltyLogitsProcessor(1.7)(torch.tensor([row]), logits.clone())[0]
    assert np.allclose(Sampling(repetition_penalty=1.7)._penalize(logits[0].numpy(), row), expected.numpy())
    assert math.isclose(float(expected[1]), -3.4)
