"""The rules of `bit_rules.py` against the automata of the published patterns, and the table of automata."""

from hashlib import sha256

import pytest

from bpelab.errors import PatternError
from bpelab.formats.gguf_pre_tokenizers import gguf_pre
from bpelab.regex.dfa import dfa_for
from bpelab.regex.pattern_families import AUTOMATA, FAMILIES, MAX_STATES, ascii_automaton, family_of
from bpelab.regex.patterns import PATTERNS


def published():
    """The DFAs of published patterns, in both dialects, each with a name."""
    for pattern in PATTERNS.values():
        yield pattern.name, dfa_for(pattern.regex)
        yield pattern.name, dfa_for(pattern.oniguruma, "oniguruma")
    for name, pre in gguf_pre().items():
        for regex in {*pre.regex, *pre.llama_cpp_regex, *(pre.original or ())}:
            for dialect in ("rust", "oniguruma"):
                try:
                    yield name, dfa_for(regex, dialect)
                except PatternError:
                    continue


def test_every_row_of_the_table_is_a_published_pattern():
    hashes = {
        sha256(ascii_automaton(dfa)).hexdigest()[:16] for _, dfa in published() if len(dfa.trans) <= 127 * dfa.width
    }
    assert AUTOMATA.keys() <= hashes
    assert set(AUTOMATA.values()) == set(FAMILIES)


@pytest.mark.parametrize(
    ("name", "family"),
    {"gpt2": "gpt2", "cl100k": "cl100k", "llama3": "cl100k", "qwen2": "qwen2", "o200k": "o200k"}.items(),
)
def test_named_patterns_have_a_family_in_either_spelling(name, family):
    for spelling, dialect in ((PATTERNS[name].regex, "rust"), (PATTERNS[name].oniguruma, "oniguruma")):
        assert family_of(dfa_for(spelling, dialect)) == FAMILIES[family]


@pytest.mark.parametrize("pattern", [r"\w+|\W+", PATTERNS["superbpe"].regex, r"(?<=a)b|.", f"a{{{MAX_STATES + 1}}}|."])
def test_other_patterns_have_none(pattern):
    assert family_of(dfa_for(pattern)) is None
