"""The worked answer to special_tokens.2 gets past the filter of any list of names, also of names within names."""

from itertools import permutations

import pytest

from bpelab.exercises import solution
from bpelab.exercises.chapters.special_tokens import past_the_filter

NAMES = ["<|end|>", "|end|", "end|>", "<s>", "</s>", "s>", "<s><s>", "<|", "[INST]", "\n\nHuman:", "aab", "abab"]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_text_gets_past_every_filter(number):
    for names in permutations(NAMES, number):
        for target in names:
            text = past_the_filter(list(names), target)
            for name in names:
                text = text.replace(name, "")
            assert target in text, (names, target)


def test_a_name_of_one_character_over_and_over_is_excluded_and_the_stub_says_so():
    assert "Each name has two different characters or more." in repr(solution("special_tokens.2"))
    assert past_the_filter(["aa"], "aa").replace("aa", "") == ""
