"""Splitting: the two engines against each other, tiktoken and Hugging Face; gaps; patterns that are wrong."""

import pickle
import random
import re
import time
import warnings

import pytest
from hypothesis import given, strategies as st

from bpelab import BPEModel, BPETokenizer
from bpelab.errors import PatternError
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS, Split, find_pattern
from bpelab.regex import backtracking, matchers
from bpelab.regex.patterns import ALIASES, refuse_misspelt
from bpelab.regex.translate import NotPortable, portable
from bpelab.trainers.counting.corpus import PatternMatchesLittle

from ..conftest import amount, fuzz_text, needs_extension

BYTE_RANKS = {bytes([byte]): byte for byte in range(256)}


def clean(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_regex(pattern: str, monkeypatch) -> Split:
    monkeypatch.setattr(backtracking, "regex_package", None)
    monkeypatch.setattr(matchers, "matcher", matchers.matcher.__wrapped__)  # not the one made before
    return Split(pattern)


@pytest.mark.parametrize("name", PATTERNS)
class TestEveryNamedPattern:
    @given(text=st.text())
    def test_nothing_is_lost(self, name, text):
        assert "".join(Split(name).split(text)) == text
        assert list(Split(name).iter_split(text)) == Split(name).split(text)

    def test_the_standard_library_alone_splits_the_same(self, name, monkeypatch):
        rng = random.Random(11)
        texts = [fuzz_text(rng) for _ in range(amount(2_000, 20_000))] + [book_text()[:50_000]]
        with_regex = [Split(name).split(text) for text in texts]
        alone = without_regex(name, monkeypatch)
        assert [alone.split(text) for text in texts] == with_regex

    def test_hugging_face_splits_the_same(self, name):
        tokenizers = pytest.importorskip("tokenizers")
        theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(PATTERNS[name].oniguruma), "isolated")
        rng, ours = random.Random(12), Split(name)
        for _ in range(amount(2_000, 20_000)):
            text = clean(fuzz_text(rng))
            assert ours.split(text) == [piece for piece, _ in theirs.pre_tokenize_str(text)], text

    def test_both_spellings_split_the_same(self, name):
        rng, ours = random.Random(13), Split(name)
        other = Split(f"(?:{PATTERNS[name].oniguruma})")  # not recognised, so it is compiled as it stands
        assert other.name is None
        for _ in range(amount(2_000, 20_000)):
            text = fuzz_text(rng)
            assert ours.split(text) == other.split(text), text

    @pytest.mark.slow
    def test_a_megabyte_of_one_kind_takes_seconds_at_most(self, name):
        for unit in (" ", "\n", "a", "A", "7", "-", "é", "\u0301", "日", " \n", "'s"):
            text = unit * (1_000_000 // len(unit))
            start = time.process_time()
            assert sum(map(len, Split(name).split(text))) == len(text)
            assert time.process_time() - start < 10, repr(unit)


def test_the_pieces_are_tiktokens():
    """A vocabulary of every piece, with whole pieces first, makes tiktoken show where it cuts."""
    tiktoken = pytest.importorskip("tiktoken")
    rng = random.Random(14)
    for name, pattern in PATTERNS.items():
        if not pattern.cuts_words:
            continue  # tiktoken drops what is between the matches
        split, texts = Split(name), [clean(fuzz_text(rng)) for _ in range(amount(500, 20_000))]
        pieces = {piece.encode() for text in texts for piece in split.split(text)}
        ranks = dict(BYTE_RANKS)
        for piece in sorted(pieces):
            ranks.setdefault(piece, len(ranks))
        encoding = tiktoken.Encoding("probe", pat_str=pattern.regex, mergeable_ranks=ranks, special_tokens={})
        for text in texts:
            assert encoding.encode_ordinary(text) == [ranks[piece.encode()] for piece in split.split(text)], text


def test_gaps_are_kept():
    assert Split(r"[a-z]+").split("!ab, cd") == ["!", "ab", ", ", "cd"]
    assert Split(r"([a-z])([a-z])").split("abc") == ["ab", "c"]  # groups are no business of ours
    assert Split(r"x*").split("axxb") == ["a", "xx", "b"]  # nor are empty matches
    assert Split(r"(?=\d)").split("a1") == ["a1"]
    assert Split("q").split("") == []


@given(
    pattern=st.sampled_from([r"\d+", r"[^a]", r"\p{Lu}\p{Ll}*", r"(?i:the)", r"\w+", r"\S+|\n$", r"."]),
    text=st.text("aA1 the\nÉ."),
)
def test_any_pattern_loses_nothing(pattern, text):
    assert "".join(Split(pattern).split(text)) == text


@pytest.mark.parametrize(
    ("pattern", "text", "pieces"),
    [
        (r"\s+$", "a \n", ["a", " \n"]),
        (r"(?i:k)", "kKK", ["k", "K", "K"]),
        (r"[\s\S]", "a\x1c", ["a", "\x1c"]),
        (r"\s", "a\x1cb", ["a\x1cb"]),  # Python's own \s would match U+001C
        (r"\P{L}+", "a12b", ["a", "12", "b"]),
        (r"[^\P{L}]+", "a12b", ["a", "12", "b"]),
        (r"\p{^L}+", "a12b", ["a", "12", "b"]),
        (r"[a-]+", "a-b", ["a-", "b"]),
        (r"[]x]+", "]x!", ["]x", "!"]),
        (r"\.\-\[", "x.-[", ["x", ".-["]),
        (r"(?>a+)b|a", "aab", ["aab"]),
        (r"[a-c&&b]", "abc", ["a", "b", "c"]),  # a class operation: run by the regex package
    ],
)
def test_constructs(pattern, text, pieces):
    assert Split(pattern).split(text) == pieces


@pytest.mark.parametrize(
    "pattern",
    ["(", "[", "a)", "*", r"\p{L", r"\p{Nonsense}", "a{2,1}", "(?<name", "\\", "(" * 5_000, "a{99999999999}"],
)
def test_patterns_that_are_wrong(pattern):
    with pytest.raises(PatternError):
        Split(pattern)


def test_what_needs_the_regex_package_says_so(monkeypatch):
    with pytest.raises(ImportError, match="pip install regex"):
        without_regex(r"(a)\1", monkeypatch)


def test_portable_says_what_it_cannot():
    for pattern in (r"\Ga", r"a\Kb"):
        with pytest.raises(NotPortable):
            portable(pattern)
    for pattern in (r"(?i:\p{Lu})", r"(?i:[a-z])", r"(?P<x>a)", r"\x{41}", r"(a)\1", "[a-c&&b]"):
        assert re.compile(portable(pattern)[0])


def test_portable_is_plain_re():
    for pattern in PATTERNS.values():
        for spelling in (pattern.regex, pattern.oniguruma):
            assert re.compile(portable(spelling)[0])


def test_names_and_aliases():
    assert find_pattern("r50k_base") is find_pattern("gpt2") is PATTERNS["gpt2"]
    assert find_pattern("no such") is None
    for pattern in PATTERNS.values():
        assert pattern.source


def test_pickles():
    for pattern in ("gpt2", "[a-z]+"):
        again = pickle.loads(pickle.dumps(Split(pattern)))
        assert again.pattern == Split(pattern).pattern
        assert again.split("ab c") == Split(pattern).split("ab c")


def test_the_patterns_are_tiktokens_own():
    public = pytest.importorskip("tiktoken_ext.openai_public")
    assert PATTERNS["gpt2"].regex == public.r50k_pat_str
    import inspect

    source = inspect.getsource(public)
    assert PATTERNS["cl100k"].regex in source
    for alternative in PATTERNS["o200k"].regex.split("|\\s")[:1]:
        assert alternative.split("|[^")[0] in source


@pytest.mark.parametrize(
    "pattern, meant",
    [
        ("gpt-4", "gpt4"),
        ("GPT2", "gpt2"),
        ("llama-3", "llama3"),
        ("qwen", "qwen2"),
        ("Qwen-2.5", "qwen2.5"),
        ("gpt-4o", "gpt4o"),
        ("cl100k-base", "cl100k_base"),
        ("o200", "o200k"),
        ("p50k_bse", "p50k_base"),
    ],
)
def test_a_misspelt_name_is_no_pattern(pattern, meant):
    for make in (
        lambda: BPETokenizer.train("low lower", 257, pattern=pattern),
        lambda: BPETokenizer(BPEModel.from_merges([]), pattern=pattern),
        lambda: BPETokenizer(BPEModel.from_merges([])).with_options(pattern=pattern),
    ):
        with pytest.raises(PatternError, match=re.escape(f"no pattern {pattern!r}: did you mean {meant!r}?")):
            make()


def test_what_is_no_name():
    with pytest.raises(PatternError, match=r"no pattern 'harbour': the names are gpt2, .*write '\(\?:harbour\)'"):
        BPETokenizer.train("low lower", 257, pattern="harbour")
    for wrong in (5, b"gpt2", ["gpt2"]):
        with pytest.raises(TypeError, match="a pattern is a name, a regular expression or None, not"):
            BPETokenizer.train("low lower", 257, pattern=wrong)
    for name in (*PATTERNS, *ALIASES):
        refuse_misspelt(name)
    for expression in ("(?:harbour)", "a|b", "ab*", r"\w+", " ", "", "-", "a", "[a-z]+", r"\d", "low lower"):
        refuse_misspelt(expression)


@pytest.mark.parametrize("trainer", ["incremental", "native"])
def test_a_pattern_that_matches_next_to_nothing_warns(trainer):
    if trainer == "native":
        needs_extension()
    text = "low lower lowest " * 100 + "harbour"
    with pytest.warns(
        PatternMatchesLittle, match=r"the pattern '\(\?:harbour\)' matches 7 of the first 1,707 characters"
    ):
        BPETokenizer.train([text], 258, pattern="(?:harbour)", trainer=trainer)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PatternMatchesLittle)
        BPETokenizer.train(text, 258, pattern=r"\w+", trainer=trainer)
        BPETokenizer.train(text, 258, pattern="gpt2", trainer=trainer)
        BPETokenizer.train(text, 258, pattern=None, trainer=trainer)
        BPETokenizer.train("low " * 20, 258, pattern="(?:harbour)", trainer=trainer)  # too short to tell
