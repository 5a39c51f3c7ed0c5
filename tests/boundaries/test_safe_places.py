"""What is said of two characters, one by one: everything that can be proved, and nothing else."""

from itertools import product

import pytest

from bpelab.boundaries.dfa_pairs import BoundaryTable, pairs_of, pairs_of_pattern
from bpelab.pretokenizers import Split
from bpelab.pretokenizers.boundary import Boundary, boundary_by_behavior, boundary_predicate
from bpelab.pretokenizers.byte_level import ByteLevel
from bpelab.pretokenizers.char_types import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from bpelab.pretokenizers.metaspace import Metaspace
from bpelab.pretokenizers.sequence import PreTokenizerSequence
from bpelab.pretokenizers.split_behaviors import BEHAVIORS
from bpelab.pretokenizers.split_pattern import SplitPattern
from bpelab.regex.dfa import dfa_for
from bpelab.regex.matchers import Pattern

UNKNOWN = (False, False, None, None)
SIGHTS = {
    "b": {"cd": (True, True, False, False), "cb": (True, True, False, True), "bb": (True, True, True, True)},
    "b+": {"bb": UNKNOWN, "bc": (True, True, True, False), "cb": (True, True, False, True)},
    "(?<=a)b+": {"ab": (True, False, False, True), "cb": (True, True, False, False), "ba": (True, True, None, False)},
    r"\bb": {"ab": (True, False, False, False), " b": (True, True, False, True), "b ": (True, False, None, False)},
    "ab?": {"ca": (True, True, False, True), "ac": (True, True, True, False), "ab": UNKNOWN},
    "(?:ab)*c": {"ab": UNKNOWN, "ba": UNKNOWN, "ca": (True, True, True, None)},
    "abc": {"ac": (True, True, False, False)},
    "(?<=x)a|(?=a)": {"ab": (True, True, None, False)},
    "a|(?=b)": {"ab": UNKNOWN, "ca": (True, True, False, True)},  # in "ab" the match of nothing is dropped
    "a|(?!b)": {"cb": UNKNOWN, "ab": UNKNOWN},
}  # fmt: skip


@pytest.mark.parametrize("pattern", SIGHTS)
def test_what_a_table_says(pattern):
    pairs = BoundaryTable(dfa_for(pattern, "oniguruma"))
    for (a, b), expected in SIGHTS[pattern].items():
        assert pairs.look(a, b) == pairs.look(a, b) == expected
        assert pairs.restarts(a, b) == all(expected[:2])
        assert pairs.restarts_with_context(a, b) == expected[0]


def test_patterns_without_a_table():
    assert pairs_of(r"(a)\1", "oniguruma") is None
    assert pairs_of_pattern(Pattern("Regex", r"(a)\1")) is None
    assert not pairs_of_pattern(Pattern("String", ".b")).restarts(".", "b")
    assert pairs_of_pattern(Pattern("String", ".b")).restarts("x", "b")
    assert not pairs_of_pattern(Pattern("Regex", ".b")).restarts("x", "b")


BEHAVED = {  # left and right of a place: matched, not matched, perhaps; c for a cut
    ("Removed", False): "cccc..c..", ("Removed", True): "cccccccc.",
    ("Isolated", False): "cccc..c..", ("Isolated", True): "cccc..c..",
    ("MergedWithPrevious", False): "cc.......", ("MergedWithPrevious", True): "c..c.....",
    ("MergedWithNext", False): "c..c.....", ("MergedWithNext", True): "cc.......",
    ("Contiguous", False): ".c.c.....", ("Contiguous", True): ".c.c.....",
}  # fmt: skip


def test_what_matches_do():
    assert len(BEHAVED) == 2 * len(BEHAVIORS)
    for (behavior, invert), expected in BEHAVED.items():
        sides = product((True, False, None), repeat=2)
        assert [boundary_by_behavior(behavior, invert, *each) for each in sides] == [
            Boundary.CUT if sign == "c" else Boundary.BROKEN for sign in expected
        ], (behavior, invert)


PLACES = [
    (Split("gpt2"), "d | d|dd", "c??"),
    (Split("gpt2", invert=True, behavior="Removed"), "d ", "c"),
    (Split(",", behavior="MergedWithPrevious", invert=True), ",a|a,", ".c"),
    (Split(r"(a)\1"), "a ", "?"),
    (Split("a$"), "a\n", "?"),  # the end of a text; in the other dialect that of a line
    (SplitPattern(Pattern("Regex", "a$"), "Isolated", False), "a\n", "c"),
    (SplitPattern(Pattern("String", ","), "MergedWithPrevious", False), ",a|a,|,,|ab", "c.c."),
    (SplitPattern(Pattern("String", ","), "MergedWithPrevious", True), ",a|a,|,,|ab", ".cc."),
    (SplitPattern(Pattern("Regex", r"(a)\1"), "Isolated", False), "a ", "?"),
    (SplitPattern(Pattern("Regex", "(?<=a)b"), "Isolated", False), "ab|cb|bc", "?.."),
    (ByteLevel(), "d | d|dd|l ", "c??c"),
    (ByteLevel(use_regex=False), "d | d|dd", "..."),
    (Metaspace(), "a |a▁|ab| a", "cc.."),
    (Metaspace("_"), "a |a_|a▁", "cc."),
    (Metaspace(splits=False), "a ", "."),
    (Punctuation(), "a,|,a|,,|ab", "ccc."),
    (Punctuation("Contiguous"), "a,|,a|,,|ab", "cc.."),
    (Punctuation("MergedWithNext"), "a,|,a|,,|ab", "c.c."),
    (UnicodeScripts(), "a日|ab|a | a|日ー", "c.?.."),
    (BertPreTokenizer(), "a |a,|ab", "cc."),
    (CharDelimiterSplit("-"), "a-|-a|ab", "cc."),
    (Digits(), "a1|1a|12", "cc."),
    (Digits(True), "a1|1a|12", "ccc"),
    (Whitespace(), "a |a,|,,|ab", "cc.."),
    (WhitespaceSplit(), "a |a,|  ", "c.c"),
    (FixedLength(2), "a ", "?"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "pairs", "expected"), PLACES, ids=lambda value: str(value)[:40])
def test_what_a_step_does(step, pairs, expected):
    assert [step.boundary(*pair) for pair in pairs.split("|")] == [Boundary("?.c".index(sign)) for sign in expected]


def safe_in(steps, pairs, implied=None):
    safe = boundary_predicate(PreTokenizerSequence(tuple(steps)), implied)
    return "".join("+" if safe(*pair) else "-" for pair in pairs.split("|"))


def test_steps_in_a_row():
    """A later step sees what the earlier ones made of the characters; it must put nothing in front of a piece."""
    assert safe_in([Digits(), CharDelimiterSplit("-")], "a1|a-|ab|-a") == "++-+"
    level = ByteLevel(False, use_regex=False)
    assert safe_in([level, CharDelimiterSplit("Ġ")], "a | a|éa|aé") == "++--"
    assert safe_in([level, CharDelimiterSplit("©")], "éa|aé|©a") == "+-+"
    assert safe_in([level, CharDelimiterSplit("Ã")], "éa|aé") == "-+"
    assert safe_in([Metaspace(splits=False), CharDelimiterSplit("▁")], "a | a|ab") == "++-"
    assert safe_in([CharDelimiterSplit("-"), Metaspace()], "a-|a |ab") == "+--"
    assert safe_in([CharDelimiterSplit("-"), Metaspace("▁", "first")], "a-|a |ab") == "++-"
    assert safe_in([CharDelimiterSplit("-"), ByteLevel()], "a-|a ") == "+-"
    assert safe_in([CharDelimiterSplit("-"), ByteLevel(False)], "a-|a ") == "++"
    assert safe_in([ByteLevel(), Metaspace("▁", "never")], "a ") == "+"
    assert safe_in([FixedLength(), WhitespaceSplit()], "a ") == "-"
    assert safe_in([Metaspace(), ByteLevel(False, use_regex=False)], "a |ab") == "+-"
    assert safe_in([], "ab") == "-"
    assert safe_in([level], "a |ab", lambda a, b: a + b == "aĠ") == "+-"
    assert safe_in([Digits()], "a1|ab|ba", lambda a, b: a + b == "ab") == "++-"


def test_what_follows_a_cut():
    assert Metaspace("_", "always", False).without_prefix() == Metaspace("_", "never", False)
    assert ByteLevel(True, False, False).without_prefix() == ByteLevel(False, False, False)
    assert ByteLevel(True, True, True).without_prefix() == ByteLevel(False, True, True)
    assert Digits().without_prefix() == Digits()
    rest = (Digits(), Metaspace())
    assert PreTokenizerSequence((Metaspace(), *rest)).without_prefix().steps == (Metaspace("▁", "never"), *rest)
    assert PreTokenizerSequence(()).without_prefix().steps == ()
