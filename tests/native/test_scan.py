"""Where C splits texts: each piece has a token of its own, so the ids tell the pieces."""

import random

import pytest

from bpelab import BPEModel, PatternError, native
from bpelab.notebook import book_text
from bpelab.pretokenizers import PATTERNS
from bpelab.pretokenizers.split import Split

from ..conftest import amount

pytestmark = pytest.mark.skipif(native.extension() is None, reason="the extension was not built: no C compiler")
ATOMS = (
    "a", "b", "[a-c]", "[a-z]+", r"\s", r"\S+", r"\w+", " ?", r"\d{1,3}", r"[^\s\w]+", r"\s+(?!\S)", r"\n", "(?:ab|a)",
    "a*b", "x?", "é+", ".", r"\p{L}+",
)  # fmt: skip
WORDS = ("a", "b", "ab", "c", " ", "  ", "\n", "1", "23", "é", "日", "!", "word", "xyz")


def split_alike(split: Split, text: str) -> bool:
    """Compare the pieces in C with Python's; returns False if C leaves this to Python."""
    pieces = split.split(text)
    tokens = {bytes([byte]): byte for byte in range(256)}
    for piece in pieces:
        tokens.setdefault(piece.encode(), len(tokens))
    encoder = native.encoder_for(BPEModel.from_ranks(tokens, ignore_merges=True), split)
    ids = None if encoder is None else encoder.encode(text)
    assert ids is None or ids == [tokens[piece.encode()] for piece in pieces], (split, text[:200])
    return ids is not None


@pytest.mark.parametrize("name", PATTERNS)
def test_named_patterns(name):
    """Texts for four readers, with characters in them that only one can read."""
    rng, book = random.Random(name), book_text()
    for _ in range(amount(8, 300)):
        start = rng.randrange(len(book) - 9_000)
        text = book[start : start + rng.randint(2_000, 9_000)]
        for _ in range(rng.choice((0, 1, 5, 40, 200))):
            at = rng.randrange(len(text))
            text = (
                text[:at] + rng.choice(("  ", "é", "日本", "\n\n", "\t", " 's", "1234", "\u00a0", "_" * 99)) + text[at:]
            )
        assert split_alike(Split(name), text)


def test_patterns_drawn_at_random():
    """Also patterns that leave gaps, stop often, or look far ahead."""
    rng, compared = random.Random(5), 0
    for _ in range(amount(150, 6_000)):
        pattern = "|".join("".join(rng.choices(ATOMS, k=rng.randint(1, 3))) for _ in range(rng.randint(1, 5)))
        text = "".join(rng.choices(WORDS, k=rng.randint(1_000, 4_000)))
        try:
            compared += split_alike(Split(pattern), text)
        except PatternError:
            continue
    assert compared > amount(150, 6_000) / 3


GAPPED = (
    r"\d",
    "ab",
    " +(?!\\S)",
    PATTERNS["superbpe"].regex,
    r"\d{2}|é",
    "(?:a*b)",
    r"xy?",
    r"[^\s\w]{2,}\n*",
    "a(?!b)",
)


@pytest.mark.parametrize("pattern", GAPPED)
def test_gaps_of_any_length(pattern):
    """Gaps are passed over by some hundred bytes at once, if two bytes rule out that a match begins at the first."""
    rng, split, compared = random.Random(pattern), Split(pattern), 0
    for _ in range(rounds := amount(12, 3_000)):
        text = ""
        for _ in range(rng.randint(1, 4)):
            filler = rng.choice(("c", "cd ", "a", "word ", "a ", "é", "c日", ". ", "ccccccca"))
            text += (filler * 1_100)[: rng.choice((0, 1, 2, 3, 509, 510, 511, 512, 513, 514, 1_023, 1_024, 1_026))]
            text += rng.choice(("1", "23", "ab", "b", "  ", "é", "--\n", "x", "xy", "a", ""))
        compared += split_alike(split, text)
        for end in (1, 2, 3):
            split_alike(split, text[:-end])
    assert compared > rounds / 2  # "a*b" may read too far ahead
