"""Patterns in files, the engines behind them, and texts that make backtracking engines run for ever."""

import random
import resource
import subprocess
import sys
import time

import pytest

from bpelab.errors import PatternError
from bpelab.pretokenizers import PATTERNS
from bpelab.regex import backtracking, matchers
from bpelab.regex.backtracking import BacktrackingMatcher
from bpelab.regex.dfa import DFA
from bpelab.regex.lookahead import AheadDFA
from bpelab.regex.matchers import NamedMatcher, Pattern, matcher

from ..conftest import amount, fuzz_text

HOSTILE = [
    r"(a+)+$", r"(a|aa)+$", r"(a*)*b", r"((a+)+)+$", r"(a+)+\1b", r"(a+)\1+$", r"(?=(a+)+b)a", r"(?:a?){30}a{30}b",
    r"a{100000}", r"((a{100}){100}){100}", r"(a{0,1000}){0,1000}b", r"a{1000}b|a", "a?" * 500 + "a" * 500,
    r"(?=a*b)a|a",
    r"(?>(a+)+)b", r"(a|a)*\1b", r"(?:a{1,50}){1,50}\Gx", "(a*)" * 300 + r"\1b",
    "(?:" * 40 + "ab" + ")+" * 40, "(?:" * 40 + "ab" + ")+" * 40 + r"\Gx", "(?:" * 9 + "ab" + "){2}" * 9 + r"\Gx",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("pattern", HOSTILE)
def test_hostile_patterns_end(pattern):
    """The limits are on processor time; this asserts ten times as much."""
    for text in ("a" * 30_000 + "!", "ab" * 15_000 + "!"):
        start = time.process_time()
        try:
            found = list(matcher(pattern, "oniguruma").spans(text))
            assert all(0 <= a <= b <= len(text) for a, b in found)
        except PatternError as error:
            assert len(str(error)) < 400
        assert time.process_time() - start < 20


@pytest.mark.slow
def test_hostile_patterns_stay_within_memory():
    script = """
import resource, sys
from bpelab.errors import PatternError
from bpelab.regex.matchers import matcher
matcher("cl100k", "rust"), matcher(r"(a)\\\\1", "rust")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000,) * 2)
for pattern in sys.argv[1:]:
    try:
        sum(1 for _ in matcher(pattern, "rust").spans("a" * 30_000 + "!"))
    except PatternError:
        pass
print("done")
"""
    if not sys.platform.startswith("linux") or not hasattr(resource, "RLIMIT_AS"):
        pytest.skip("needs Linux's limits")
    command = [sys.executable, "-c", script, *HOSTILE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout == "done\n", done.stderr


def test_which_engine():
    assert isinstance(matcher("cl100k", "rust"), NamedMatcher)
    assert isinstance(matcher(PATTERNS["cl100k"].oniguruma, "oniguruma"), NamedMatcher)
    assert isinstance(matcher(PATTERNS["cl100k"].regex, "oniguruma"), DFA)  # to Oniguruma that is another pattern
    assert list(matcher("gpt2", "oniguruma").spans("a gpt2")) == [(2, 6)]  # a name is a name only to our own users
    assert isinstance(matcher(r"(a)\1", "rust"), BacktrackingMatcher)


AHEAD = [
    r"(?=(\d{3})+(?!\d))|\p{N}{1,3}", r"\d{1,3}(?=(?:\d{3})*\b)", r"(?=(\d{3})+(?!\d))", r"\p{L}+(?! \p{L})|\s",
    r"\d+?(?=(?:ab|\s)+\d)|a(?!\w\w)|.", r"(?<=\S)(?=\s+\p{Lu}|\d\d)",
]  # fmt: skip
BACKTRACKING = [
    r"(\p{L})\1", r"(\w)\1+", r"(?>\p{L}+|\s)\d", r"(?<=\p{Lu}\p{Ll})\S", r"\s+\Z", r"\G\p{L}", r"\p{L}\K\d",
    r"(?<!\s{2})[\p{L}\p{N}&&[^a-m]]+",
]  # fmt: skip


@pytest.mark.parametrize("pattern", AHEAD + BACKTRACKING)
def test_what_no_plain_table_can_do_against_hugging_face(pattern):
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(41)
    theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "removed")
    ours = Pattern("Regex", pattern)
    assert isinstance(matcher(pattern, "oniguruma"), AheadDFA if pattern in AHEAD else BacktrackingMatcher)
    for _ in range(amount(150, 5_000)):
        text = fuzz_text(rng).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        gaps, end = [], 0
        for start, stop in ours.spans(text):
            gaps.append(text[end:start])
            end = stop
        expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
        assert [gap for gap in [*gaps, text[end:]] if gap] == expected, (pattern, text)


@pytest.mark.parametrize("pattern", AHEAD)
def test_looks_ahead_against_the_backtracking_engine(pattern):
    rng = random.Random(42)
    table, other = AheadDFA(pattern, "oniguruma"), BacktrackingMatcher(pattern, "oniguruma")
    for _ in range(amount(300, 20_000)):
        text = "".join(rng.choice("0123ab cA!\n٣é") for _ in range(rng.randrange(30)))
        assert list(table.spans(text)) == list(other.spans(text)), text


def test_long_numbers_take_linear_time():
    pattern = r"(?=(\d{3})+(?!\d))"  # SuperBPE's, of no width
    for size in (3_000, 10_000, 100_000):
        places = [start for start, _ in matcher(pattern, "oniguruma").spans("7" * size)]
        assert places == list(range(size % 3, size, 3))


def test_looks_that_remember_too_much_begin_anew(monkeypatch):
    from bpelab.regex import lookahead

    monkeypatch.setattr(lookahead, "MOST_KNOWN", 5)
    test_looks_ahead_against_the_backtracking_engine(AHEAD[0])


def test_the_time_of_one_text_is_not_that_of_others(monkeypatch):
    ours, now = BacktrackingMatcher(r"(a)\1", "oniguruma"), iter(range(10_000))
    monkeypatch.setattr(backtracking, "thread_time", lambda: next(now) * backtracking.SECONDS / 10)
    for _ in range(100):
        assert list(ours.spans("aab aa")) == [(0, 2), (4, 6)]  # three searches, each a tenth of the time
    with pytest.raises(PatternError, match="backtracks too long"):
        list(ours.spans("aa" * 20))
    assert list(ours.spans("aab aa")) == [(0, 2), (4, 6)]


def test_strings():
    assert list(Pattern("String", "a.").spans("aba.a.")) == [(2, 4), (4, 6)]
    assert list(Pattern("String", "").spans("ab")) == [(0, 0), (1, 1), (2, 2)]
    assert list(Pattern("String", "x").spans("")) == []


def test_patterns_that_are_wrong():
    with pytest.raises(ValueError, match="String or a Regex"):
        Pattern("Glob", "*")
    for text in ("(", r"\p{Nonsense}", "a{100001}"):
        with pytest.raises(PatternError):
            Pattern("Regex", text)


def test_a_reference_in_a_long_text_is_refused_beforehand():
    with pytest.raises(PatternError, match="has a backreference"):
        list(Pattern("Regex", r"(a)\1").spans("a" * (backtracking.MAX_REFERRED + 1)))


def test_without_the_regex_package(monkeypatch):
    monkeypatch.setattr(backtracking, "regex_package", None)
    make = matchers.matcher.__wrapped__
    assert list(make(r"\p{Lu}+", "oniguruma").spans("aBCd")) == [(1, 3)]
    assert list(make("gpt2", "rust").spans("a b")) == [(0, 1), (1, 3)]
    with pytest.raises(ImportError, match="pip install regex"):
        make(r"(a)\1", "rust")
