"""Masks: those of the definition, in every state, for random vocabularies, patterns and expressions."""

import random
from itertools import product
from unittest.mock import patch

import pytest
import regex
from hypothesis import example, given, strategies as st

from bpelab import BPEModel, BPETokenizer, ModelError, PatternError
from bpelab.constraints import Constraint, finishing, language, product as module, spellings, state_table, token_trie
from bpelab.constraints.definition import allowed_by_definition
from bpelab.constraints.language import matches
from bpelab.model.initial_symbols import InitialSymbols
from bpelab.regex.parser import parse

from ..conftest import amount
from ..prefix.random_vocabularies import random_case
from .random_expressions import expression, long_expression
from .sampled import sampled

LONGEST = 4
T = BPETokenizer.train("low lower lowest " * 9, 262)


def written(tokenizer, ids):
    return [token.decode("utf-8", "replace") for token in tokenizer.convert_ids_to_tokens(list(map(int, ids)))]


def matching(pattern, alphabet):
    texts = ("".join(text) for size in range(LONGEST + 1) for text in product(sorted(set(alphabet)), repeat=size))
    return [text for text in texts if regex.fullmatch(pattern, text)]


@example(5254, True)  # a token that is merged, and also taken whole
@given(st.integers(0, 2**32), st.booleans())
def test_they_are_those_of_the_definition(seed, canonical):
    small = seed % 2 == 0  # in others, what is for large vocabularies is used for small ones
    with (
        patch.object(token_trie, "MANY", token_trie.MANY if small else 0),
        patch.object(module, "MAX_PAIRS", module.MAX_PAIRS if small else 0),
    ):
        check_case(random.Random(seed), canonical)


def check_case(rng, canonical):
    tokenizer, alphabet = random_case(rng)
    for _ in range(amount(3, 9)):
        pattern = expression(rng, alphabet, LONGEST)
        texts = matching(pattern, alphabet)
        if allowed_by_definition(tokenizer, texts, [], canonical) == (set(), False):
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


def check_samples(tokenizer, seeds, canonical):
    """What is sampled matches, and encodes to the ids that were sampled; an expression may match nothing."""
    matched = 0
    for seed in seeds:
        rng = random.Random(seed)
        pattern = long_expression(rng)
        try:
            constraint = Constraint.regex(tokenizer, pattern, canonical=canonical)
        except PatternError as error:
            assert str(error) == "no text matches this constraint", pattern
            continue
        matched += 1
        for _ in range(2):
            ids = sampled(constraint, rng, after=15)
            text = tokenizer.decode(ids)
            assert regex.fullmatch(pattern, text, flags=regex.V0), (pattern, text)
            assert not canonical or tokenizer.encode(text) == ids, (pattern, text)
    assert matched > 0.8 * len(seeds)


@pytest.mark.parametrize("canonical", [True, False])
def test_samples_match(canonical):
    check_samples(T, range(40), canonical)


@pytest.mark.slow
@pytest.mark.parametrize("canonical", [True, False])
def test_samples_of_300_expressions_match(canonical):
    check_samples(T, range(300), canonical)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"(a)\1", "a reference to group 1"),
        ("a(?=bc)bc", "a look ahead over more than one character"),
        ("(?>a|ab)c", "an atomic group"),
        ("((a{100}){100}){100}", "more than 20,000 positions"),
        ("a{2000}" * 30, "more than 20,000 positions"),
        ("(", "a group is not closed"),
        (r"[^\x00-\x{10ffff}]", "no text matches this constraint"),
        (r"a\bb", "no text matches this constraint"),
    ],
)
def test_refused(pattern, message):
    with pytest.raises(PatternError, match=message):
        Constraint.regex(T, pattern)


@pytest.mark.parametrize("pattern", ["(a|b)*a(a|b){30}", "((a*)*)*", "(a?){20}a{20}", "(.*a){20}", "(x+x+)+y"])
def test_hostile_expressions_take_no_longer_than_their_texts(pattern):
    constraint = Constraint.regex(T, pattern)
    ids = sampled(constraint, random.Random(1), after=20)
    assert matches(parse(pattern))(T.decode(ids))


def test_limits(monkeypatch):
    monkeypatch.setattr(language, "MAX_WORK", 1_000)
    with pytest.raises(PatternError, match="the constraint took more than 1,000 steps"):
        sampled(Constraint.regex(T, "(a|b)*a(a|b){30}"), random.Random(1))
    monkeypatch.undo()
    monkeypatch.setattr(state_table, "MAX_STATES", 64)
    with pytest.raises(PatternError, match="the constraint reached more than 64 states"):
        sampled(Constraint.regex(T, "(a|b)*a(a|b){30}"), random.Random(1))
    monkeypatch.setattr(finishing, "MAX_TRIED", 3)
    with pytest.raises(PatternError, match="the constraint made more than 3 tokens be tried"):
        Constraint.regex(T, "(é|日本|😀)+").matcher().allowed()


def test_what_is_kept_is_bounded(monkeypatch):
    for at, name, most in (
        (module, "MAX_MASKS", 2),
        (finishing, "MAX_STEPS", 2),
        (token_trie, "MANY", 0),
        (token_trie, "MAX_READ", 2),
        (spellings, "MAX_WAYS", 2),
    ):
        monkeypatch.setattr(at, name, most)
    tokenizer = BPETokenizer.train("low new " * 9, 260)  # what is known of T was kept by other tests
    check_samples(tokenizer, range(12), True)
    constraint = Constraint.regex(tokenizer, "([a-z]{3}|é|日本)+")
    sampled(constraint, random.Random(2))
    found, spelling = constraint._product, constraint._product.spelling
    for kept in (found._masks, found._fits, found.finishing.table.read, spelling.borders.read, spelling.ways):
        assert len(kept) == 2
    assert found.finishing._steps.cache_info().currsize == 2


def test_a_text_may_go_on_without_masks():
    for canonical in (True, False):
        matcher = Constraint.regex(T, "x{300}y", canonical=canonical).matcher()
        for _ in range(300):
            matcher.advance(T.token_to_id("x"))
        assert written(T, matcher.allowed()) == ["y"]


def test_arguments():
    with pytest.raises(TypeError, match="pattern is a str, not bytes"):
        Constraint.regex(T, b"a")
    with pytest.raises(TypeError, match="texts is a list of texts, not one str"):
        Constraint.choices(T, "yes")
    with pytest.raises(ValueError, match="texts has to be one or more texts, not"):
        Constraint.choices(T, [])
    with pytest.raises(TypeError, match="canonical is True or False, not 'no'"):
        Constraint.regex(T, "a", canonical="no")
    with pytest.raises(TypeError, match="unexpected keyword argument 'cannonical'"):
        Constraint.regex(T, "a", cannonical=True)


def test_tokenizers_that_are_not_served():
    with pytest.raises(ModelError, match="without a normalizer"):
        Constraint.regex(T.with_options(normalizer="NFC"), "a")
    characters = BPEModel({0: b"a"}, {}, {b"a": 0}, initial_symbols=InitialSymbols(characters=True))
    for canonical in (True, False):
        with pytest.raises(ModelError, match="bytes"):
            Constraint.regex(BPETokenizer(characters, pattern=None), "a", canonical=canonical)


def test_special_tokens_are_never_allowed():
    tokenizer = T.with_special_tokens(["<|low|>"])
    special = tokenizer.token_to_id("<|low|>")
    for canonical in (True, False):
        constraint = Constraint.choices(tokenizer, ["<|low|>", "x"], canonical=canonical)
        assert special not in constraint.matcher().allowed()
        matcher = constraint.matcher()
        matcher.advance(tokenizer.encode("x")[0])
        assert matcher.allowed([special]).tolist() == [special]


def test_a_copy_goes_on_by_itself():
    matcher = Constraint.regex(T, "low|new").matcher()
    other = matcher.copy()
    other.advance(T.token_to_id("low"))
    assert other.can_end and not matcher.can_end
