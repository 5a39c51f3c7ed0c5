"""Reading regular expressions: both dialects against the engines that they are named after, and what is refused."""

import contextlib
import io

import pytest

from bpelab.errors import PatternError
from bpelab.pretokenizers.split import Split
from bpelab.regex.ast import Alternation, single
from bpelab.regex.matchers import matcher
from bpelab.regex.parser import MAX_PATTERN, parse

CONSTRUCTS = [
    (r"a{2}?", "aaaa"), (r"a{,2}", "aaaaa"), (r"a{1,3}+b?", "aaaaaaab"), (r"(?:a{1,2}+)a", "aaaa"), (r"a{", "a{a"),
    (r"a{x}", "a{x}"), (r"^a", "aa\na"), (r"a$", "aa\naa"), ("a$\n", "aa\naa"), ("\\n^", "a\n\n"), (r"a\Z", "a\nba\n"),
    (r"a\z", "a\na"), (r"\Aa", "aa\na"), (r"\Ga", "aaba"), (r"a\Kb", "abab"), (r"(?<=a)b", "abbb"),
    (r"(?<!a)b", "abbb"), (r"(?<=a|bc)d", "adbcdd"), (r"(?<n>a)\k<n>", "aaa"), (r"(a)\1", "aaa"), (r"(?#c)a", "aba"),
    (r"(?m:a.b)", "a\nb"), (r"a.b", "a\nb"), (r"(?i)ab|C", "ABcabC"), (r"a(?i)b|c", "aBCc"), (r"a(?i:b)|c", "aBCc"),
    (r"(?x) a b # c", "ab"), (r"\x41", "A"), (r"\x{41}", "A"), (r"\u0041", "A"), (r"\R", "a\r\nb\n"), (r"\N", "a\n"),
    (r"\O", "a\n"), (r"[a-c&&b-d]", "abcd"), (r"[^a-c&&b-d]", "abcde"), (r"[a&&[^b]c]", "abc"), (r"[[ab]c]", "abcd"),
    (r"[^[ab]c]", "abcd"), (r"[a[^b]]", "abc"), (r"[]a]", "]a"), (r"[^]a]", "]ab"), (r"[a-]", "a-"), (r"[-a]", "a-"),
    (r"[a-b-c]", "a-bc"), (r"[a-c-e]", "abcde-"), (r"[--a]", "-a"), (r"[\b]", "\bb"), (r"(?>a|ab)c", "abcac"),
    (r"\b", "ab cd"), (r"\B", "ab cd"), (r"a++", "aaa"), (r"a+?", "aaa"), (r"a?+a", "aa"), (r"a*+a", "aa"),
    (r"a{2}+", "aaaaa"), (r"\e\a\f\v", "\x1b\x07\x0c\x0b"), (r"\_\-\/\ \é", "_-/ é"), (r"[é-ü]", "éö"),
    (r"\h", "aG"), (r"[\n]", "\n"), (r"[a&b]", "a&b"), (r"(?i:[à-ý])", "ÀÝ÷"), (r"(?i)[^a]", "aAb"), (r"\p{^L}", "a1"),
    (r"\P{^L}", "a1"), (r"\p{Letter}\p{han}", "a日"), (r"[[:alpha:]]", "aé1"), (r"[[:^alpha:]]", "aé1"),
    (r"[[:punct:]]", "a+!"), (r"\w", "a²_"), (r"[\w]", "a²_"), (r"(?i:k)", "kKK"), (r"(?i:\p{Lu})", "aA"),
    (r"(?i:[\p{Lu}])", "aA"), (r"(?:)", "a"), ("|a", "aa"), ("a|", "ba"), ("", "ab"), ("(?=a)", "bab"),
    (r" ?[^(\s|[.,!?…。，、।۔،])]+", "ab, (c) d"), (r"a**", "aaa"), (r"a+?*", "aaa"), ("[&&a]", "a&"), (r"a{0}b", "b"),
]  # fmt: skip
ONLY_ONIGURUMA = {r"(?m:a.b)", r"a**", r"a+?*"}
PANICS = {r"\b", r"\B", "(?:)", "|a", "a|", "", "(?=a)"}
"""In tiktoken, an empty match is a panic."""


@pytest.mark.parametrize(("pattern", "text"), CONSTRUCTS)
def test_constructs_mean_what_they_mean_to_hugging_face(pattern, text):
    tokenizers = pytest.importorskip("tokenizers")
    theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
    assert Split(pattern, dialect="oniguruma").split(text) == expected


@pytest.mark.parametrize(("pattern", "text"), [case for case in CONSTRUCTS if case[0] not in ONLY_ONIGURUMA | PANICS])
def test_constructs_mean_what_they_mean_to_tiktoken(pattern, text):
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            ranks.setdefault(text[start:end].encode(), len(ranks))
    encoding = tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    with contextlib.redirect_stderr(io.StringIO()):
        matches = [token.decode() for token in encoding.decode_tokens_bytes(encoding.encode_ordinary(text))]
    assert [text[a:b] for a, b in matcher(pattern, "rust").spans(text) if a < b] == matches


@pytest.mark.parametrize(
    ("pattern", "dialect", "problem"),
    [
        ("(", "rust", "not closed"),
        ("a)", "rust", "unbalanced"),
        ("[a", "oniguruma", "not closed"),
        ("[]", "oniguruma", "class"),
        (r"[\d-a]", "oniguruma", "range"),
        (r"[a-\d]", "rust", "range"),
        ("[b-a]", "rust", "backwards"),
        ("a{2,1}", "rust", "backwards"),
        ("a{100001}", "oniguruma", "100,000"),
        ("*a", "oniguruma", "nothing to repeat"),
        ("(?=a)*b", "rust", "nothing to repeat"),
        ("a**", "rust", "repetition of a repetition"),
        (r"\p{Foo}", "oniguruma", "Foo"),
        (r"\p{L", "rust", "not closed"),
        (r"(?<n>a)\1", "oniguruma", "no group 1"),
        (r"(a)\2", "rust", "no group 2"),
        (r"\k<x>", "rust", "no group x"),
        (r"(?i)(a)\1", "oniguruma", "ignores case"),
        ("(?P<x>a)", "oniguruma", "no group begins"),
        ("(?(1)a|b)", "rust", "a condition"),
        ("(?~ab)", "oniguruma", "absent"),
        (r"(?s)a", "oniguruma", "flag s"),
        ("[[:foo:]]", "oniguruma", "POSIX"),
        ("\\", "rust", "middle"),
        (r"\x{110000}", "rust", "number of a character"),
        (r"\y", "oniguruma", r"\\y"),
        ("(" * 5_000, "rust", "nested"),
        ("[" * 5_000, "oniguruma", "nested"),
        ("a" + "{1}" * 5_000, "oniguruma", "nested"),
        ("(?i)" * 5_000, "oniguruma", "nested"),
        ("a" * (MAX_PATTERN + 1), "rust", "more than"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(pattern, dialect, problem):
    with pytest.raises(PatternError, match=problem) as caught:
        parse(pattern, dialect)
    assert "at character" in str(caught.value) and len(str(caught.value)) < 400


def test_as_deep_as_allowed_is_no_problem():
    for pattern in ("(" * 99 + "a" + ")" * 99, "[" * 99 + "a" + "]" * 99, "(?:" * 40 + "ab" + ")+" * 40):
        for dialect in ("rust", "oniguruma"):
            assert "".join(Split(pattern, dialect=dialect).split("aab")) == "aab"


def test_nodes():
    tree = parse("(?:a|b)|c+")
    assert isinstance(tree, Alternation) and single(tree.options[0]).ranges == ((97, 98),)
    assert parse("") == parse("(?:)") and single(parse("")) is None
