"""Sampling against a slow twin in plain Python, and what must hold whatever the settings."""

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from bpelab.chat.sampling import GREEDY, Sampling
from bpelab.errors import BackendError

SEARCH_WINDOW = 1e-9
"""What lies so near to a limit that rounding decides is no difference."""


def twin(settings, logits, row, number):
    """The same by the book, one float after the other. None where rounding decides."""
    scores = [float(logit) for logit in logits]
    for token in set(row):
        penalty = settings.repetition_penalty
        scores[token] = scores[token] * penalty if scores[token] < 0 else scores[token] / penalty
    if settings.temperature == 0:
        return scores.index(max(scores))
    highest = max(scores)
    scores = [(score - highest) / settings.temperature for score in scores]
    left = list(range(len(scores)))
    if 0 < settings.top_k < len(scores):
        least = sorted(scores, reverse=True)[settings.top_k - 1]
        left = [token for token in left if scores[token] >= least]
    weight = {token: math.exp(scores[token]) for token in left}
    if settings.top_p < 1:
        total, reached, kept = math.fsum(weight.values()), 0.0, []
        for token in sorted(left, key=lambda token: (-scores[token], token)):
            if abs(reached / total - settings.top_p) < SEARCH_WINDOW:
                return None
            if reached / total >= settings.top_p and kept:
                break
            kept.append(token)
            reached += weight[token]
        left = sorted(kept)
    most = max(weight[token] for token in left)
    if any(0 < abs(weight[token] / most - settings.min_p) < SEARCH_WINDOW for token in left):
        return None
    left = [token for token in left if weight[token] and weight[token] / most >= settings.min_p]
    total, end = math.fsum(weight[token] for token in left), 0.0
    for token in left:
        end += weight[token]
        if abs(end / total - number) < SEARCH_WINDOW and token != left[-1]:
            return None
        if end / total > number:
            return token
    return left[-1]


LOGITS = st.lists(
    st.one_of(st.floats(-30, 30, width=32), st.integers(-3, 3).map(float), st.just(-math.inf)), min_size=1, max_size=40
).filter(lambda logits: max(logits) > -math.inf)
SETTINGS = st.builds(
    Sampling,
    temperature=st.one_of(st.just(0.0), st.floats(0.05, 5), st.sampled_from((1e-300, 1e300, 1))),
    top_k=st.integers(0, 45),
    top_p=st.one_of(st.floats(0, 1), st.just(1.0)),
    min_p=st.one_of(st.floats(0, 1), st.just(0.0)),
    repetition_penalty=st.one_of(st.just(1.0), st.floats(0.1, 10)),
    seed=st.integers(0, 2**70),
)


@given(LOGITS, SETTINGS, st.randoms(use_true_random=False))
@example([1.0, 1.0], Sampling(top_p=0, temperature=1, seed=0), random.Random(0))
@example([0.0, -1e30], Sampling(temperature=1e-300, seed=0), random.Random(0))
def test_as_the_slow_twin(logits, settings, rng):
    logits = np.array(logits, np.float32)
    row = [rng.randrange(len(logits)) for _ in range(rng.randrange(6))]
    numbers = np.random.Generator(np.random.PCG64(settings.seed))
    choose = settings.chooser()
    for _ in range(5):
        token, probability = choose(logits, row)
        expected = twin(settings, logits, row, numbers.random())
        assert expected is None or token == expected
        assert logits[token] > -math.inf
        plain = [math.exp(float(logit) - float(logits.max())) for logit in logits]
        assert probability == pytest.approx(plain[token] / math.fsum(plain), rel=1e-9)
        row.append(token)


@given(LOGITS, SETTINGS)
def test_the_same_seed_gives_the_same_ids(logits, settings):
    logits = np.array(logits, np.float32)
    choosers = settings.chooser(), settings.chooser()
    one, other = ([choose(logits, [])[0] for _ in range(20)] for choose in choosers)
    assert one == other
    given = logits.copy()
    settings.chooser()(logits, [0])
    assert np.array_equal(given, logits)  # what the model gave is not changed


def test_a_seed_gives_these_ids_everywhere():
    """The promise of the docstring, in numbers: no backend and no version of this library may change them."""
    logits = np.arange(8, dtype=np.float32) / 2
    choose = Sampling(temperature=0.7, top_p=0.95, seed=7).chooser()
    assert [choose(logits, [])[0] for _ in range(12)] == [7, 7, 7, 6, 6, 7, 3, 7, 7, 6, 6, 6]


def test_without_a_seed_choices_differ():
    logits = np.zeros(1_000, np.float32)
    assert len({tuple(choose(logits, [])[0] for _ in range(4)) for choose in (Sampling(1.0).chooser(),) * 4}) == 4


def test_frequencies_are_the_probabilities():
    logits = np.log(np.array([1, 2, 3, 4], np.float32))
    choose = Sampling(temperature=1.0, seed=3).chooser()
    found = Counter(choose(logits, [])[0] for _ in range(20_000))
    for token in range(4):
        assert found[token] / 20_000 == pytest.approx((token + 1) / 10, abs=0.015)


def test_greedy_takes_the_lowest_of_equals():
    choose = GREEDY.chooser()
    assert choose(np.array([1, 5, 5, 2], np.float32), [])[0] == 1
    assert choose(np.array([-math.inf, -9], np.float32), []) == (1, 1.0)


def test_a_penalty_counts_for_the_greedy_too():
    logits = np.array([3.0, 2.9, -1.0], np.float32)
    assert Sampling(repetition_penalty=1.2).chooser()(logits, [0, 0])[0] == 1
    assert Sampling(repetition_penalty=1.2).chooser()(logits, [2])[0] == 0


def test_top_k_keeps_what_is_equal_to_the_last():
    choose = Sampling(temperature=1.0, top_k=2, seed=0).chooser()
    assert {choose(np.array([5, 4, 4, 1], np.float32), [])[0] for _ in range(200)} == {0, 1, 2}


def test_what_lies_on_a_limit():
    """Four equal tokens: all that is computed with them is exact."""
    scores = np.zeros(4)

    def kept(**settings):
        return {Sampling(temperature=1.0, **settings)._draw(scores, number / 97) for number in range(97)}

    assert kept(top_p=0.5) == {0, 1}
    assert kept(top_p=0.51) == {0, 1, 2}
    assert kept(min_p=1.0) == kept(top_k=1) == {0, 1, 2, 3}
    plain = Sampling(temperature=1.0)
    assert [plain._draw(scores, number) for number in (0.0, 0.25, 0.5, 0.75, 1 - 2**-53)] == [0, 1, 2, 3, 3]
    assert plain._draw(np.array([-math.inf, 0.0, -math.inf]), 0.0) == 1


@pytest.mark.parametrize(
    ("logits", "said"),
    [
        ([1.0, math.nan], "the logit nan"),
        ([1.0, math.inf], "the logit inf"),
        ([math.nan, math.inf, -math.inf], "the logit nan"),
        ([-math.inf, -math.inf], "rules every token out"),
        ([], r"shape \(0,\) instead of one row"),
        ([[1.0, 2.0]], r"shape \(1, 2\) instead of one row"),
    ],
)
@pytest.mark.parametrize("settings", [GREEDY, Sampling(temperature=1.0, top_p=0.5, repetition_penalty=1.1)])
def test_logits_that_are_none(logits, said, settings):
    with pytest.raises(BackendError, match=said):
        settings.chooser()(np.array(logits, np.float32), [])


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": -0.1}, {"temperature": math.nan}, {"temperature": math.inf}, {"temperature": "1"},
        {"temperature": True}, {"temperature": 10**400}, {"temperature": None}, {"top_k": -1}, {"top_k": 1.0},
        {"top_p": 1.01}, {"top_p": -0.1}, {"min_p": 2}, {"min_p": math.nan}, {"repetition_penalty": 0},
        {"repetition_penalty": -1}, {"repetition_penalty": math.inf}, {"seed": -1}, {"seed": 1.0}, {"seed": True},
    ],
)  # fmt: skip
def test_settings_that_none_can_have(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a"):
        Sampling(**wrong)


def test_other_number_types_of_logits():
    logits = np.array([0.5, 2.5, 1.0])
    for kind in (np.float16, np.float32, np.float64):
        assert Sampling(1.0, seed=5).chooser()(logits.astype(kind), [])[0] == 1


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=2, max_size=9), SETTINGS)
def test_the_largest_logits(logits, settings):
    """No warning, which the tests make an error, and no choice outside."""
    token, probability = settings.chooser()(np.array(logits, np.float32), [0, 1])
    assert 0 <= token < len(logits)
    assert 0 <= probability <= 1
