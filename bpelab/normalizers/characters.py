"""Normalizers that work on one character at a time.

Chapter: Regex pre-tokenization. Cost: linear. Source: Hugging Face tokenizers, `normalizers/strip.rs`, `unicode.rs`,
`utils.rs` and `byte_level.rs`.
"""

from dataclasses import dataclass
from functools import lru_cache

from .._support.textio import utf8
from ..unicode.byte_alphabet import to_alphabet
from ..unicode.hf_normalizer_tables import accents, cased, lower_case
from ..unicode.tables import parse_ranges, property_ranges
from .base import BoundedNormalizer, CharacterNormalizer, check_length

BLOCK = 256
"""The number of characters tested for ASCII together, since most text is mostly ASCII."""


@lru_cache(1)
def white_space() -> str:
    """Return what Rust's `char::is_whitespace` accepts. Python's `str.strip` has four more control characters."""
    return "".join(chr(code) for first, last in property_ranges("White_Space") for code in range(first, last + 1))


@dataclass(frozen=True)
class StripAccents(CharacterNormalizer):
    """Remove marks: `e` and a combining accent become `e`. A precomposed `é` has to be decomposed first, with NFD.

    >>> StripAccents()("e\\u0301é")
    'eé'
    """

    def __call__(self, text: str) -> str:
        return text if text.isascii() else accents().sub("", text)


@dataclass(frozen=True)
class Lowercase(CharacterNormalizer):
    """Convert each character to lower case by itself, so a sigma at the end of a word doesn't become a final sigma.

    >>> Lowercase()("ΟΔΟΣ"), "ΟΔΟΣ".lower()
    ('οδοσ', 'οδος')
    """

    def __call__(self, text: str) -> str:
        blocks = [text[start : start + BLOCK] for start in range(0, len(text), BLOCK)]
        return "".join(block.lower() if block.isascii() else _lower(block) for block in blocks)


def _lower(text: str) -> str:
    lower = lower_case()
    return cased().sub(lambda found: lower[ord(found[0])], text)


_NMT: dict[int, str] = {
    code: become
    for listed, become in (
        ("1-8 B E-1F 7F 8F 9F", ""),
        ("9-A C-D 1680 200B-200F 2028-2029 2581 FEFF FFFD", " "),
    )
    for first, last in parse_ranges(listed)
    for code in range(first, last + 1)
}


@dataclass(frozen=True)
class Nmt(CharacterNormalizer):
    """Clean as SentencePiece does for machine translation: remove control characters, turn breaks and marks into
    spaces.

    >>> Nmt()("a\\x01\\tb▁c")
    'a b c'
    """

    def __call__(self, text: str) -> str:
        return text.translate(_NMT)


@dataclass(frozen=True)
class ByteLevel(CharacterNormalizer, BoundedNormalizer):
    """Write the bytes of the text in GPT-2's byte alphabet.

    >>> ByteLevel()(" é")
    'ĠÃ©'

    Raises TextTooLongError if the result is too long, as after several of these in a row.
    """

    def apply_bounded(self, text: str, limit: int) -> str:
        data = utf8(text)
        check_length(self, len(data), limit)
        return to_alphabet(data)
