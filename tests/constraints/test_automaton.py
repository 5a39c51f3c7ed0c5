"""The automaton of tokens: in each of its states the mask of a matcher that got there."""

import random

import pytest
from hypothesis import given, strategies as st

from bpelab import BPETokenizer, PatternError
from bpelab.constraints import Constraint, token_automaton

from ..prefix.random_vocabularies import random_case
from .random_expressions import expression


@given(st.integers(0, 2**32), st.booleans())
def test_it_allows_what_a_matcher_allows(seed, canonical):
    rng = random.Random(seed)
    tokenizer, alphabet = random_case(rng)
    try:
        constraint = Constraint.regex(tokenizer, expression(rng, alphabet, 4), canonical=canonical)
    except PatternError as error:
        assert "no text matches" in str(error)
        return
    transitions, finals = token_automaton(constraint)
    for _ in range(5):
        matcher, state = constraint.matcher(), 0
        for _ in range(12):
            assert [*transitions[state]] == matcher.allowed().tolist()
            assert (state in finals) == matcher.can_end
            if not transitions[state]:
                break
            token = rng.choice([*transitions[state]])
            matcher.advance(token)
            state = transitions[state][token]


def test_it_is_limited():
    tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    constraint = Constraint.regex(tokenizer, "(low|er){9}")
    with pytest.raises(PatternError, match="more than 5 states of tokens: narrow it"):
        token_automaton(constraint, 5)
    assert len(token_automaton(constraint).transitions) > 5
