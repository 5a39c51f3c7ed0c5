"""Normalizers change a text before it is cut into pieces. None is used unless a file or the user asks for one.

Normalized and lossless exclude each other: after NFC, decode(encode(text)) is the normalized text. The names are
Hugging Face's component names. Chapter: Regex pre-tokenization. Cost: linear; a text that is in normal form already is
only looked at.
"""

import unicodedata
from dataclasses import dataclass
from typing import Literal

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")


@dataclass(frozen=True)
class UnicodeNormalizer:
    """One of the four normal forms of Unicode.

    >>> UnicodeNormalizer("NFC")("e\\u0301")
    'é'
    """

    form: Form

    def __call__(self, text: str) -> str:
        return text if unicodedata.is_normalized(self.form, text) else unicodedata.normalize(self.form, text)


def find_normalizer(name: str | UnicodeNormalizer | None) -> UnicodeNormalizer | None:
    """The normalizer called `name`; None for None. Raises ValueError for a name that is unknown."""
    if name is None or isinstance(name, UnicodeNormalizer):
        return name
    if name not in FORMS:
        raise ValueError(f"there is no normalizer {name!r}; choose None or one of {', '.join(FORMS)}")
    return UnicodeNormalizer(name)
