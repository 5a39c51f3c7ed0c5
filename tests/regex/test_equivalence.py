"""Patterns compared by a proof and by trying all short texts: the same verdict, and a text as short as there is one."""

from itertools import product
from random import Random

import pytest
from hypothesis import example, given, settings, strategies as st

from bpelab.errors import PatternError
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.regex.dfa import NotRegular
from bpelab.regex.equivalence import compare_patterns

CHARS, LONGEST = "ab z", 4
TEXTS = ["".join(chars) for size in range(1, LONGEST + 1) for chars in product(CHARS, repeat=size)]
LONGER = ["".join(Random(seed).choices(CHARS, k=5 + seed % 5)) for seed in range(120)]
atoms = st.sampled_from(["a", "b", "z", " ", "[ab]", "[^a]", "[^ab ]", ".", r"\s", r"\S"])
looks = st.sampled_from(["", "(?!a)", "(?= )", "(?=[ab])", "$", "^", r"\b", "(?<=a)", "(?<! )", r"(?!\S)"])
repeats = st.sampled_from(["", "*", "+", "?", "{2}", "{1,3}", "*?", "+?"])
runs = st.tuples(looks, atoms, repeats, looks).map("".join)
branches = st.lists(runs, min_size=1, max_size=3).map("".join)
patterns = st.lists(branches, min_size=1, max_size=3).map("|".join)
dialects = st.sampled_from(["rust", "oniguruma"])


def changed(pattern):
    """The pattern itself and others that are near it, which short random ones rarely are."""
    swaps = [("a", "[ab]"), ("+", "*"), ("*", "+"), ("|", "|a|"), (" ", r"\s"), ("{2}", "{1,2}"), ("(?!a)", "")]
    return st.sampled_from([pattern, f"(?:{pattern})", f"{pattern}|a+", *(pattern.replace(*swap) for swap in swaps)])


def made(pattern, dialect):
    """The pre-tokenizer of a pattern that an automaton can run; None for others."""
    try:
        compare_patterns(pattern, pattern, dialect)
        return Split(pattern, dialect=dialect)
    except (NotRegular, PatternError):
        return None


@settings(max_examples=200, deadline=None)
@given(patterns.flatmap(lambda pattern: st.tuples(st.just(pattern), changed(pattern) | patterns)), dialects, dialects)
@example(("a*b|a", "a"), "rust", "rust")
@example(("a*b|a", "a+b|a"), "rust", "rust")
@example(("a|a*", "a|a*"), "rust", "oniguruma")
@example((r"(?=a)", "a"), "oniguruma", "oniguruma")
@example((r"(?=a)", "z"), "rust", "oniguruma")
@example((r"\s+(?!\S)|\s", r"\s+(?=\s|$)|\s"), "rust", "rust")
def test_the_verdict_is_that_of_all_short_texts(pair, dialect, other_dialect):
    first, second = made(pair[0], dialect), made(pair[1], other_dialect)
    if first is None or second is None:
        return
    shortest = next((text for text in TEXTS + LONGER if first.split(text) != second.split(text)), None)
    found = compare_patterns(*pair, dialect, other_dialect)
    if shortest is not None:
        assert found is not None and len(found.text) <= len(shortest)
    if found is not None:
        assert list(found.pieces) == first.split(found.text)
        assert list(found.other_pieces) == second.split(found.text)
        assert found.pieces != found.other_pieces
        if len(found.text) <= LONGEST and set(found.text) <= set(CHARS):
            assert len(found.text) == len(shortest)


@pytest.mark.parametrize("name", PATTERNS)
def test_both_spellings_of_a_named_pattern_are_one(name):
    assert compare_patterns(PATTERNS[name].regex, PATTERNS[name].oniguruma, "rust", "oniguruma") is None


@pytest.mark.parametrize(
    "first, second, text",
    [
        ("cl100k", "qwen2", "00"),  # digits one by one
        ("cl100k", "llama3", "\n "),  # white space at the end of the text
        ("cl100k", "o200k", "AA\u0300"[1:]),  # a mark belongs to the word
        ("gpt2", "cl100k", " 0"),
    ],
)
def test_named_patterns_differ_first_on(first, second, text):
    found = compare_patterns(PATTERNS[first].regex, PATTERNS[second].regex)
    assert found.text == text


def test_a_difference_may_need_a_long_text():
    assert len(compare_patterns("a{1,30}", "a{1,31}").text) == 31
    assert compare_patterns(r"\d{1,3}", r"\d{1,2}").text == "000"
    assert len(compare_patterns("(?:a*b|a)", "(?:a{0,12}b|a)").text) == 14


def test_what_no_automaton_runs_is_refused():
    with pytest.raises(NotRegular, match="reference to group"):
        compare_patterns(r"(a)\1", "a")
