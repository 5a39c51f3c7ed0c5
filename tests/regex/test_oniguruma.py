"""Patterns of tiktoken's dialect written in Oniguruma's: they cut alike, by proof and in Hugging Face's own engine."""

import random

import pytest
from hypothesis import example, given, settings, strategies as st

from bpelab.errors import ConversionError, PatternError
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.regex.dfa import NotRegular
from bpelab.regex.equivalence import compare_patterns
from bpelab.regex.oniguruma import oniguruma_spelling

from ..conftest import amount, fuzz_text

TEXTS = ["a²b", "x\u200dy \u200c", "½ _a1", "ab\ncd\n", "a\n\n", "\n", "aaa 1234", "É\u0301t\u0660 ẞß", "[a-]&&😀"]
atoms = st.sampled_from(
    ["a", r"\w", r"\W", r"[\w-]", r"[^\w ]", "[[:alpha:]]", "[[:punct:]a]", r"\d", r"\S", r"\h", "(?i:k)", "[^a]", "."]
)
repeats = st.sampled_from(["", "+", "{2}", "{1,3}", "{1,2}+", "{2}?", "++", "{1,3}?"])
looks = st.sampled_from(["", "", "$", "(?m:$)", "(?m:^)", r"\b", r"\B", r"\Z", r"\A", r"(?=\w)", r"(?<!\w)"])
patterns = st.lists(st.tuples(looks, atoms, repeats, looks).map("".join), min_size=1, max_size=3).map("|".join)


@settings(max_examples=150)
@given(patterns)
@example(r"\w+|\W")
@example(r"\w{1,3}+$|a{2}?b|(?m:^)x|[\w-]\b|\Z")
@example("[^\\x00-\\U0010ffff]a|[\\s\\S]")
def test_they_cut_alike(pattern):
    tokenizers = pytest.importorskip("tokenizers")
    try:
        spelling = oniguruma_spelling(pattern)
        assert compare_patterns(pattern, spelling, "rust", "oniguruma") is None
    except (NotRegular, PatternError):
        return
    ours = Split(pattern)
    theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(spelling), "isolated")
    for text in TEXTS:
        assert [piece for piece, _ in theirs.pre_tokenize_str(text)] == ours.split(text), (spelling, text)


def test_what_means_the_same_stays():
    for pattern in [named.oniguruma for named in PATTERNS.values()] + [r"\p{Lu}?\p{Ll}+|\s+\z", "(?i:'s)|.+?"]:
        assert oniguruma_spelling(pattern) == pattern


@pytest.mark.parametrize("pattern", [r"\w+|\W", r"[\w-]+", r"\b\w+|\S$|\s", "[[:alpha:]]+"])
def test_on_many_texts(pattern):
    tokenizers = pytest.importorskip("tokenizers")
    ours = Split(pattern)
    theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(oniguruma_spelling(pattern)), "isolated")
    rng = random.Random(35)
    for _ in range(amount(400, 10_000)):
        text = fuzz_text(rng).encode("utf-8", "replace").decode()
        assert [piece for piece, _ in theirs.pre_tokenize_str(text)] == ours.split(text), text


def test_what_has_no_spelling_is_refused():
    with pytest.raises(ConversionError, match=r"holds \\G, which means something else"):
        oniguruma_spelling(r"\Ga")
    with pytest.raises(ConversionError, match="can match nothing, where Hugging Face's engine cuts"):
        oniguruma_spelling("a*")
