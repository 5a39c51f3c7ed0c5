"""Exercise incremental.5 tells an index of words from counting all of them again, by the calls that an answer makes."""

import sys

import pytest

from bpelab.exercises import EXERCISES, check
from bpelab.exercises.chapters.incremental import MOST_CALLS

from .wrong_incremental import counts_all_words_again, counts_all_words_in_its_own_loop

EXERCISE = EXERCISES["incremental.5"]


@pytest.mark.parametrize("answer", [counts_all_words_again, counts_all_words_in_its_own_loop])
def test_right_merges_are_not_enough(answer):
    text = repr(check("incremental.5", answer))
    assert "expected  {'words counted for each merge': 'those that hold the pair'}" in text
    assert "got       {'words counted for each merge': 'all of them, as train_naive does'}" in text
    assert "... 257 more}, 20)" in text


def test_both_sides_are_far_from_the_limit():
    words, num_merges = list(EXERCISE.inputs())[-1]
    for answer, low, high in ((EXERCISE.solution, 0, 0.5), (counts_all_words_again, 2, 100)):
        assert low < calls(answer, words, num_merges) / MOST_CALLS < high


def calls(answer, words, num_merges) -> int:
    made = []
    sys.setprofile(lambda frame, event, argument: made.append(event))
    try:
        answer(words, num_merges)
    finally:
        sys.setprofile(None)
    return sum(event in ("call", "c_call") for event in made)
