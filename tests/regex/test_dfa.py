"""Tables against backtracking engines, on random patterns and on those of real tokenizers; what is refused; limits."""

import json
import pickle
import random
import re
import time
from bisect import bisect_right

import pytest

from bpelab._support.textio import valid_text
from bpelab.errors import PatternError
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS
from bpelab.pretokenizers.split_behaviors import pieces
from bpelab.regex.dfa import NotRegular, dfa_for
from bpelab.regex.dfa_construction import alphabet, compile_dfa
from bpelab.regex.matchers import matcher
from bpelab.regex.nfa import build_nfa
from bpelab.regex.parser import parse
from bpelab.regex.translate import portable
from tools.make_dfa_tables import contents

from ..conftest import amount, fuzz_text, shared
from .random_patterns import random_pattern, random_text

REFUSED = {
    r"\p{AFMoE_digits}": "no such category",
    r"\d{1,3}(?=(?:\d{3})*\b)": "look ahead over more than one character",
    r"(?=(\d{3})+(?!\d))": "look ahead over more than one character",
}
"""The patterns of real tokenizers that no table can run: two that count digits from the right, one that is no regex."""


def clean(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def spans_of(compiled: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """The matches that a backtracking engine finds, counted as Rust's and Oniguruma's `find_iter` count them."""
    place, previous, out = 0, -1, []
    while match := compiled.search(text, place) if place <= len(text) else None:
        start, end = match.span()
        if start == end == previous:
            place += 1
            continue
        out.append((start, end))
        place = previous = end
    return out


def some_tables(rng, count, dialect):
    """Random patterns that have a table, and their tables."""
    while count:
        pattern = random_pattern(rng)
        try:
            table = compile_dfa(pattern, dialect)
        except PatternError:
            continue
        count -= 1
        yield pattern, table


def test_random_patterns_match_what_re_matches():
    rng = random.Random(31)
    for pattern, table in some_tables(rng, amount(150, 3_000), "rust"):
        compiled, written = re.compile(pattern.replace(r"\z", r"\Z")), re.compile(portable(pattern)[0])
        for _ in range(amount(20, 60)):
            text = random_text(rng)
            assert list(table.spans(text)) == spans_of(compiled, text) == spans_of(written, text), (pattern, text)


def test_random_patterns_split_as_hugging_face_splits(capfd):
    tokenizers = pytest.importorskip("tokenizers")
    rng = random.Random(32)
    for pattern, table in some_tables(rng, amount(150, 3_000), "oniguruma"):
        try:
            theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        except Exception as error:  # Oniguruma is stricter about what may be repeated or looked for behind
            assert "invalid" in str(error)
            continue
        for _ in range(amount(20, 60)):
            text = random_text(rng)
            try:
                expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
            except BaseException as error:  # a panic: Oniguruma has given up
                assert "retry-limit" in str(error)
                continue
            assert pieces(text, table.spans(text), "Isolated") == expected, (pattern, text)
    capfd.readouterr()  # the panics' traces


def real_patterns() -> list[str]:
    data = json.loads(shared("facts/gguf_pre_tokenizers.json").read_text(encoding="utf-8"))["pre"]
    found = {regex for entry in data.values() for key in ("regex", "original_regex") for regex in entry.get(key) or []}
    return sorted(found | {spelling for named in PATTERNS.values() for spelling in (named.regex, named.oniguruma)})


def test_the_patterns_of_real_tokenizers_split_as_hugging_face_splits():
    tokenizers = pytest.importorskip("tokenizers")
    rng, refused = random.Random(33), set()
    texts = [clean(fuzz_text(rng)) for _ in range(amount(100, 2_000))]
    for pattern in real_patterns():
        try:
            dfa_for(pattern, "rust")
            table = dfa_for(pattern, "oniguruma")
        except PatternError as error:
            assert REFUSED[pattern] in str(error)
            refused.add(pattern)
            continue
        theirs = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        for text in texts:
            expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
            assert pieces(text, table.spans(text), "Isolated") == expected, (pattern, text)
    assert refused == set(REFUSED)


@pytest.mark.parametrize("name", PATTERNS)
def test_named_patterns_as_tables(name):
    table, compiled = dfa_for(PATTERNS[name].regex), matcher(name, "rust")
    rng = random.Random(34)
    for text in [book_text(), *(fuzz_text(rng) for _ in range(amount(300, 20_000)))]:
        assert list(table.spans(text)) == list(compiled.spans(text))
    assert len(table.trans) // table.width < 30 and set(table.entries) == {1}
    again = pickle.loads(pickle.dumps(table))
    assert again == table and list(again.spans("a b")) == list(table.spans("a b"))


def test_the_two_stage_lookup_gives_the_classes():
    table = dfa_for(PATTERNS["o200k"].regex)
    starts, classes, _ = alphabet(build_nfa(parse(PATTERNS["o200k"].regex, "rust")))
    for code_point in range(0, 0x110000, 7):
        kind = table.stage2[table.stage1[code_point >> 8] * 256 + (code_point & 255)]
        assert kind == classes[bisect_right(starts, code_point) - 1]
        assert kind == ord(chr(code_point).translate(table.codes))


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", "a reference to group 1"),
        ("(?=ab)", "look ahead over more than one"),
        ("(?<=ab)c", "look behind over more than one"),
        ("(?>ab|a)c", "an atomic group"),
        ("(?:ab)++c", "a possessive repetition of more than one character"),
        (r"\Ga", r"\\G"),
        (r"a\Kb", r"\\K"),
        (r"a\Z", r"\\Z"),
        ("(?:|a)*b", "match nothing"),
        ("a{30000}", "more than 20,000 positions"),
        ("(?:a|b)*a(?:a|b){16}", "takes too long|states"),
        ("|".join(chr(0x4E00 + i) + "b" for i in range(300)), "kinds of characters"),
    ],
)
def test_what_no_table_can_run_is_named(pattern, reason):
    with pytest.raises(NotRegular, match=reason) as caught:
        compile_dfa(pattern)
    assert "can't be run by a table" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["a*b|a", "(?:a+)+$", "(?:a|aa)+b|aa?", "a*b|aa*c|a", r"\s+\n|\S+|\s", "[^!]*!!"])
def test_reading_ahead_in_vain_is_linear(pattern):
    """A scanner that starts over after each match would take days for these."""
    table = compile_dfa(pattern)
    for text in ("a" * 300_000, " " * 300_000, "ab" * 5 + "a" * 100_000 + "!"):
        start = time.process_time()
        found = list(table.spans(text))
        assert time.process_time() - start < 20
        assert all(a <= b for a, b in found)
    small = "aab" * 3 + "a" * 12 + "b" + "a" * 12  # re takes exponential time
    assert list(table.spans(small)) == spans_of(re.compile(portable(pattern)[0]), small)


def test_notes_about_failures_change_nothing():
    """Long texts, so that the notes are taken, against an engine that takes none."""
    rng = random.Random(35)
    for pattern in ("a*b|a", "(?:ab)*c|a|b", "a+[bc]?a*!|a|b", "(?<=b)a*c|a|b"):
        table, compiled = compile_dfa(pattern), re.compile(pattern)
        for _ in range(amount(3, 30)):
            text = "".join(
                rng.choice(("a" * rng.randint(1, 400), "b", "c", "ab" * rng.randint(1, 200))) for _ in range(60)
            )
            assert list(table.spans(text)) == spans_of(compiled, text)


def test_a_text_that_takes_too_many_steps_is_refused():
    with pytest.raises(PatternError, match="too far ahead"):
        list(compile_dfa("a{1500}b|a").spans("a" * 100_000))


def test_the_shipped_tables_are_those_of_the_named_patterns():
    for name, pattern in PATTERNS.items():
        assert dfa_for(pattern.regex) == compile_dfa(pattern.regex), f"run python -m tools.make_dfa_tables: {name}"
    for path, content in contents().items():
        assert path.read_bytes() == content


@pytest.mark.parametrize("name", PATTERNS)
def test_both_spellings_of_a_named_pattern_make_one_table(name):
    rng = random.Random(name)
    theirs = compile_dfa(PATTERNS[name].oniguruma, "oniguruma")
    for _ in range(amount(300, 20_000)):
        text = valid_text(fuzz_text(rng))
        assert list(dfa_for(PATTERNS[name].regex).spans(text)) == list(theirs.spans(text)), text
