"""The plainest trainer step by step: every other one is compared with it."""

from dataclasses import astuple

import pytest

from bpelab.trainers.naive import count_pairs, replace_pair, train_naive

WORDS = {b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}


def test_pairs_are_counted_as_often_as_their_words():
    assert count_pairs([]) == {}
    assert count_pairs([([1], 4), ([], 4)]) == {}
    assert count_pairs([([1, 2, 1, 2], 3), ([2, 1], 10), ([1, 1, 1], 1)]) == {(1, 2): 6, (2, 1): 13, (1, 1): 2}


def test_pairs_are_replaced_from_left_to_right():
    for ids, expected in (
        ([], []), ([1], [1]), ([1, 1], [9]), ([1, 1, 1], [9, 1]), ([1, 1, 1, 1], [9, 9]),
        ([2, 1, 1, 2], [2, 9, 2]), ([1, 2, 1, 1], [1, 2, 9]), ([2, 2], [2, 2]),
    ):  # fmt: skip
        assert replace_pair(ids, (1, 1), 9) == expected
    assert replace_pair([1, 2, 1, 2, 1], (2, 1), 9) == [1, 9, 9]


def test_steps():
    steps = list(train_naive(WORDS, 4))
    assert [astuple(step) for step in steps] == [
        (0, 101, 115, 9, b"es", None), (1, 256, 116, 9, b"est", None),
        (2, 108, 111, 7, b"lo", None), (3, 258, 119, 7, b"low", None),
    ]  # fmt: skip
    kept = list(train_naive(WORDS, 2, keep_counts=True))
    assert [step.counts[101, 115] for step in kept[:1]] == [9] and kept[1].counts[256, 116] == 9
    assert (101, 115) not in kept[1].counts


@pytest.mark.parametrize(("least", "merges"), [(1, 12), (2, 12), (3, 10), (6, 7), (7, 4), (9, 2), (10, 0)])
def test_the_last_step(least, merges):
    """No pair occurs so often any more, or no pair is left."""
    assert len(list(train_naive(WORDS, 99, least))) == merges


def test_no_merge_too_many():
    assert [step.token for step in train_naive({b"ab": 2}, 5)] == [b"ab"]
    assert not list(train_naive({b"ab": 1}, 5))
    assert [step.token for step in train_naive({b"ab": 1}, 5, 1)] == [b"ab"]
    assert not list(train_naive({b"ab": 2}, 0)) and not list(train_naive({}, 5)) and not list(train_naive({b"a": 9}, 5))
