"""Masks: those of the definition, in every state, for random vocabularies, patterns and expressions."""

import random
from itertools import product

import pytest
import regex
from hypothesis import given, strategies as st

from bpelab import BPETokenizer, PatternError
from bpelab.constraints import Constraint
from bpelab.constraints.definition import allowed_by_definition

from ..conftest import amount
from ..prefix.random_vocabularies import random_case
from .random_expressions import expression

LONGEST = 4
T = BPETokenizer.train("low lower lowest " * 9, 262)


def written(tokenizer, ids):
    return [token.decode("utf-8", "replace") for token in tokenizer.convert_ids_to_tokens(list(map(int, ids)))]


def matching(pattern, alphabet):
    texts = ("".join(text) for size in range(LONGEST + 1) for text in product(sorted(set(alphabet)), repeat=size))
    return [text for text in texts if regex.fullmatch(pattern, text)]


@given(st.integers(0, 2**32), st.booleans())
def test_they_are_those_of_the_definition(seed, canonical):
    rng = random.Random(seed)
    tokenizer, alphabet = random_case(rng)
    for _ in range(amount(3, 9)):
        pattern = expression(rng, alphabet, LONGEST)
        texts = matching(pattern, alphabet)
        if not texts:
            with pytest.raises(PatternError, match="no text matches"):
                Constraint.regex(tokenizer, pattern, canonical=canonical)
            continue
        constraint = Constraint.regex(tokenizer, pattern, canonical=canonical)
        matcher, ids = constraint.matcher(), []
        while True:
            found = matcher.allowed().tolist()
            expected, can_end = allowed_by_definition(tokenizer, texts, ids, canonical)
            assert (found, matcher.can_end) == (sorted(expected), can_end), (pattern, ids)
            if not found:
                break
            ids.append(rng.choice(found))
            matcher.advance(ids[-1])


def test_a_token_that_demands_another_next():
    """`lo` is in no encoding of `low`, which is one token; so it isn't allowed where the text has to be `low`."""
    matcher = Constraint.regex(T, "lo(w|g)").matcher()
    assert written(T, matcher.allowed()) == ["lo", "low"]
    matcher.advance(T.token_to_id("lo"))
    assert written(T, matcher.allowed()) == ["g"]
    assert written(T, Constraint.regex(T, "low").matcher().allowed()) == ["low"]
    with pytest.raises(ValueError, match=r"the id 256 isn't allowed here: it would make a match, or its encoding"):
        Constraint.regex(T, "low").matcher().advance(256)


def test_alternatives_have_no_order():
    assert written(T, Constraint.regex(T, "lo|low|lowx").matcher().allowed()) == ["lo", "low"]
