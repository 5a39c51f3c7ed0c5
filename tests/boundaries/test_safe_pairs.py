"""The places that are called safe are: cutting there changes nothing, whatever stands around them."""

import random

import pytest

from bpelab.boundaries.dfa_pairs import BoundaryTable
from bpelab.errors import PatternError
from bpelab.pretokenizers import PATTERNS, Split
from bpelab.pretokenizers.boundary import Boundary, boundary_predicate
from bpelab.pretokenizers.char_types import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from bpelab.pretokenizers.split_behaviors import BEHAVIORS
from bpelab.pretokenizers.split_pattern import SplitPattern
from bpelab.regex.dfa import dfa_for
from bpelab.regex.dfa_construction import alphabet
from bpelab.regex.matchers import Pattern
from bpelab.regex.nfa import build_nfa
from bpelab.regex.parser import parse

from ..conftest import amount, boundary_characters, fuzz_text
from ..regex.random_patterns import random_pattern, random_text

STEPS = [
    BertPreTokenizer(), Whitespace(), WhitespaceSplit(), UnicodeScripts(), Digits(), Digits(True),
    CharDelimiterSplit("-"), *map(Punctuation, BEHAVIORS),
    *(SplitPattern(Pattern("String", string), behavior, invert)
      for string in (" ", "  ", "aba") for behavior in BEHAVIORS for invert in (False, True)),
]  # fmt: skip


def representatives(pattern: str) -> list[str]:
    """A character of each class that a pattern tells apart."""
    starts, classes, _ = alphabet(build_nfa(parse(PATTERNS[pattern].regex, "rust")))
    found = {kind: chr(start) for start, kind in zip(starts, classes) if not 0xD800 <= start < 0xE000}
    return list(found.values())


def broken(pieces: list[str], at: int, text: str) -> list[str]:
    """Pieces that lose nothing of the text, the one over `at` broken in two."""
    out, start = [], 0
    for piece in pieces:
        cut = at - start
        out += [piece[:cut], piece[cut:]] if 0 < cut < len(piece) else [piece]
        start += len(piece)
    assert start == len(text)
    return out


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pair_of_classes(name):
    rng, split, safe = random.Random(name), Split(name), boundary_predicate(Split(name))
    characters = representatives(name)
    for a in characters:
        for b in characters:
            if safe(a, b):
                for _ in range(amount(4, 400)):
                    left, right = (
                        "".join(rng.choices(characters, k=rng.randint(0, 6))) if rng.random() < 0.7 else fuzz_text(rng)
                        for _ in range(2)
                    )
                    assert split.split(left + a + b + right) == split.split(left + a) + split.split(b + right)


def test_what_is_safe_beyond_words():
    """Words stay together: text is given out at digits, runs of punctuation, and spaces before more space."""
    safe = boundary_predicate(Split("superbpe"))
    assert all(safe(a, b) for a, b in ["5a", "a5", " \n"])
    assert not any(safe(a, b) for a, b in ["d ", " d", "d.", "12", "  "])


@pytest.mark.parametrize("name", [name for name, named in PATTERNS.items() if named.cuts_words])
def test_what_is_safe(name):
    """Else nothing would ever be given out."""
    safe = boundary_predicate(Split(name))
    assert all(safe(a, b) for a, b in ["d ", "d,", "d\n", "日 ", "é ", "5 "])
    assert not any(safe(a, b) for a, b in ["dd", "  ", " d", "\n\n", " \n", "'s", "🙂🙂"])
    assert safe("1", "2") == (name in ("qwen2", "qwen3.5", "tekken"))  # digit by digit
    assert safe("d", "'") == (name not in ("o200k", "kimi-k2"))  # whose words have contractions
    assert safe("d", "\u0301") == (name not in ("o200k", "qwen3.5", "tekken", "kimi-k2"))  # whose words have marks
    assert safe("\n", "d") == (name != "gpt2")


def test_random_patterns():
    """Of any pattern that a table can run: both halves, and with every behaviour."""
    rng = random.Random(5)
    safe = tried = 0
    while tried < amount(250, 40_000):
        pattern = random_pattern(rng)
        try:
            pairs = BoundaryTable(dfa_for(pattern, "oniguruma"))
        except PatternError:
            continue
        tried += 1
        behavior, invert = rng.choice(BEHAVIORS), rng.random() < 0.5
        step = SplitPattern(Pattern("Regex", pattern), behavior, invert)
        for _ in range(20):
            text = random_text(rng) + random_text(rng)
            at = rng.randrange(1, len(text))
            left, right = text[:at], text[at:]
            spans = list(step.pattern.spans(text))
            if pairs.restarts(left[-1], right[0]):
                moved = [(a + at, b + at) for a, b in step.pattern.spans(right)]
                assert spans == [*step.pattern.spans(left), *moved], (pattern, left, right)
                safe += 1
            check_place(step, left, right)
    assert safe > 3 * tried


def check_place(step, left: str, right: str) -> None:
    found = step.boundary(left[-1], right[0])
    whole, halves = step.split(left + right), step.split(left) + step.split(right)
    if found is Boundary.CUT:
        assert whole == halves, (step, left, right)
    elif found is Boundary.BROKEN:
        assert "".join(whole) == "".join(halves), (step, left, right)
        if "".join(whole) == left + right:
            assert broken(whole, len(left), left + right) == halves, (step, left, right)


def test_steps():
    rng = random.Random(6)
    characters = [*"aab  --1²٣'.,\n日ひжア\u0301ー", *rng.sample(boundary_characters(), 60)]
    for step in STEPS:
        for _ in range(amount(250, 20_000)):
            left, right = ("".join(rng.choices(characters, k=rng.randint(1, 6))) for _ in range(2))
            check_place(step, left, right)
