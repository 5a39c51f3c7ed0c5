"""The project's Unicode table against the engines whose ids it has to match, code point by code point."""

import re
import unicodedata

import pytest

from bpelab.errors import PatternError
from bpelab.unicode.tables import (
    category,
    class_body,
    complement,
    folding_classes,
    property_ranges,
    unicode_version,
    union,
)

EVERY = "".join(chr(code_point) for code_point in range(0x110000) if not 0xD800 <= code_point < 0xE000)
CATEGORIES = [
    "L",
    "M",
    "N",
    "P",
    "S",
    "Z",
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "Mn",
    "Mc",
    "Me",
    "Nd",
    "Nl",
    "No",
    "Pc",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
    "Po",
    "Sm",
    "Sc",
    "Sk",
    "So",
    "Zs",
    "Zl",
    "Zp",
    "Cc",
    "Cf",
    "Co",
    "Cn",
]
SCRIPTS = ["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Arabic", "Cyrillic", "Greek", "Latin", "Devanagari"]


def ours(name: str) -> set[int]:
    return {cp for first, last in property_ranges(name) for cp in range(first, last + 1)} - set(range(0xD800, 0xE000))


def in_rust(expression: str) -> set[int]:
    """What tiktoken's engine matches: with one id a byte, and gaps dropped, the ids are the bytes of the matches."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("probe", pat_str=f"(?:{expression})+", mergeable_ranks=ranks, special_tokens={})
    return set(map(ord, bytes(encoding.encode_ordinary(EVERY)).decode()))


def in_oniguruma(expression: str) -> set[int]:
    """What Hugging Face's engine matches."""
    tokenizers = pytest.importorskip("tokenizers")
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(f"(?:{expression})+"), "removed", invert=True)
    return {ord(char) for piece, _ in split.pre_tokenize_str(EVERY) for char in piece}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CATEGORIES, *SCRIPTS, "Alphabetic", "White_Space"])
def test_properties_are_those_of_tiktoken_and_hugging_face(name):
    assert ours(name) == in_rust(rf"\p{{{name}}}") == in_oniguruma(rf"\p{{{name}}}")


def test_white_space_digits_and_words():
    assert ours("White_Space") == in_rust(r"\s") == in_oniguruma(r"\s")
    assert ours("Nd") == in_rust(r"\d") == in_oniguruma(r"\d")
    assert ours("Word") == in_rust(r"\w")  # Oniguruma's \w has six more digits and lacks the two joiners


@pytest.mark.parametrize("char", "sdmtlvrekKaAIißéΣσςµµſ")
def test_folding_classes(char):
    assert set(folding_classes().get(ord(char), (ord(char),))) == in_rust(f"(?i:{char})")


def test_the_version_is_stated():
    assert unicode_version() == "16.0.0"


def test_categories_agree_with_python_on_what_python_knows():
    changed = [c for c in EVERY if unicodedata.category(c) != "Cn" and unicodedata.category(c) != category(c)]
    assert len(changed) < 30, "categories of assigned characters hardly ever change between versions"


def test_set_operations():
    letters = property_ranges("L")
    assert complement(complement(letters)) == letters
    assert union(letters, complement(letters)) == ((0, 0x10FFFF),)
    matcher = re.compile(f"[{class_body(letters)}]")
    assert {ord(c) for c in EVERY if matcher.match(c)} == ours("L")


def test_unknown_names_are_refused():
    with pytest.raises(PatternError, match="Klingon"):
        property_ranges("Klingon")
