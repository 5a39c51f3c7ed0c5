"""Which patterns have a family, and that the table has them all and no other."""

import pytest

from bpelab.formats.gguf_pre_tokenizers import gguf_pre, with_all_spaces
from bpelab.regex.bit_rules import spans
from bpelab.regex.dfa import dfa_for
from bpelab.regex.pattern_families import (
    AUTOMATA,
    FAMILIES,
    MAX_STATES,
    Family,
    ascii_automaton,
    automaton_hash,
    family_of,
)
from bpelab.regex.patterns import PATTERNS

from .bit_proof import counterexample
from .published import dfas_by_row, published_dfas


def test_every_row_of_the_table_is_a_published_pattern():
    assert dfas_by_row().keys() == AUTOMATA.keys()
    assert set(AUTOMATA.values()) == set(FAMILIES)


@pytest.mark.parametrize("row", AUTOMATA)
def test_the_rules_are_proved_for_every_row(row):
    """For texts of any length: see `bit_proof.py`."""
    assert counterexample(FAMILIES[AUTOMATA[row]], ascii_automaton(dfas_by_row()[row])) is None


@pytest.mark.slow
def test_no_published_pattern_is_missing():
    """For a pattern without a family, each family is wrong somewhere."""
    others = {
        ascii_automaton(dfa) for dfa in published_dfas() if automaton_hash(dfa) and automaton_hash(dfa) not in AUTOMATA
    }
    for automaton in others:
        assert all(counterexample(family, automaton) is not None for family in FAMILIES.values())


@pytest.mark.parametrize(
    ("name", "family"),
    [("gpt2", "gpt2"), ("cl100k", "cl100k"), ("llama3", "cl100k"), ("qwen2", "qwen2"), ("o200k", "o200k")],
)
def test_named_patterns_have_a_family_in_either_spelling(name, family):
    assert family_of(dfa_for(PATTERNS[name].regex)) == FAMILIES[family]
    assert family_of(dfa_for(PATTERNS[name].oniguruma, "oniguruma")) == FAMILIES[family]


@pytest.mark.parametrize("name", ["qwen35", "gpt-4o", "llama4", "tekken", "kimi-k2", "bailingmoe", "glm4", "olmo"])
def test_patterns_of_llama_cpp_and_of_the_models_have_one(name):
    pre = gguf_pre()[name]
    for regex in (*with_all_spaces(pre.regex), *(pre.original or ())):
        assert isinstance(family_of(dfa_for(regex, "oniguruma")), Family)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\w+|\W+",
        PATTERNS["superbpe"].regex,
        r"(?<=a)b|.",
        f"a{{{MAX_STATES + 1}}}|.",
        r"\p{L}+ \u4e00|" + PATTERNS["qwen2"].regex,  # a character without a class in ASCII decides where a piece ends
        r"[^\r\n\p{L}\p{N}]?[a-z]+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ],
)
def test_other_patterns_have_none(pattern):
    family = family_of(dfa_for(pattern))
    assert family is None, family


def test_what_only_other_characters_do_is_no_matter():
    """Where a character of its own class comes, the rules leave the piece to the DFA."""
    dfa = dfa_for(r"\p{L}+\u4e00|" + PATTERNS["qwen2"].regex)
    family = family_of(dfa)
    assert family == FAMILIES["qwen2"]
    for text in ("ab\u4e00cd \u4e00\u4e00x", "ab \u4e00", "\u00e9\u4e00\u00e9 .", "a'\u4e00\n\u4e00"):
        assert list(spans(text, dfa, family)) == list(dfa.spans(text))
