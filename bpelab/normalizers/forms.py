"""Unicode's four normal forms, by the rules of Unicode 9, as Hugging Face's tokenizers computes them.

Python's `unicodedata` has newer rules, and updating Python must not change a text's ids. So a character that isn't in
Unicode 9 stays unchanged, and nothing is moved across it or joined with it. For the text between such characters
Python's function is exact, since a character's normal form never changes once assigned.

A normalized tokenizer can't be lossless: after NFC, decode(encode(text)) is the normalized text.

Chapter: Regex pre-tokenization. Cost: linear; text already in normal form is only checked. Source: UAX #15 and
its stability policy; the crate `unicode-normalization-alignments`, tested on every code point.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

from ..texts.aligned_string import AlignedString
from ..texts.stages import REMEMBERED, BoundaryStage, Stage
from ..unicode.hf_normalizer_tables import assigned_after_unicode_9
from .base import BaseNormalizer

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")


_BLOCK = re.compile(r"(?s:.{1,512})[^\0-\x7f]*")
"""A block that ends before an ASCII character, which no normal form moves or joins with the text before it."""


class UnicodeNormalizer(BaseNormalizer):
    """One of the four normal forms of Unicode; `UnicodeNormalizer("NFC")` makes an `NFC()`.

    >>> UnicodeNormalizer("NFC")("e\\u0301")
    'é'
    >>> UnicodeNormalizer("NFC") == NFC(), NFC().form
    (True, 'NFC')

    Raises ValueError for an unknown form.
    """

    form: ClassVar[Form]

    def __new__(cls, *form: str) -> "UnicodeNormalizer":
        if cls is not UnicodeNormalizer:
            return super().__new__(cls)
        if len(form) != 1 or form[0] not in _CLASSES:
            raise ValueError(f"a normal form is one of {', '.join(FORMS)}, not {', '.join(map(repr, form)) or 'none'}")
        return super().__new__(_CLASSES[form[0]])

    def __call__(self, text: str) -> str:
        """Return `text` in the normal form."""
        if text.isascii():
            return text
        return "".join(map(self._block, _BLOCK.findall(text)))

    def _block(self, text: str) -> str:
        if unicodedata.is_normalized(self.form, text):
            return text
        parts = assigned_after_unicode_9().split(text)
        parts[::2] = [unicodedata.normalize(self.form, part) for part in parts[::2]]
        return "".join(parts)

    def stages(self) -> list[Stage]:
        """Return a stage that holds back a character and the marks after it (UAX #15, section 9)."""
        return [BoundaryStage(self, can_cut_before)]

    def align(self, string: AlignedString) -> AlignedString:
        from .form_changes import form_changes

        return string.transform(form_changes(self, string.text))


_JOINS_BEFORE = range(0x1160, 0x1200)
"""Vowels and finals of Korean syllables: they aren't marks, but compose with the character before."""


@lru_cache(REMEMBERED)
def normalizes_alone(char: str) -> bool:
    """Return True if no normal form ever moves `char` or joins it with the text before it.

    >>> normalizes_alone("é"), normalizes_alone("\\u0301")
    (True, False)
    """
    first = unicodedata.normalize("NFKD", char)[:1]
    return not unicodedata.category(first).startswith("M") and ord(first) not in _JOINS_BEFORE


def can_cut_before(a: str, b: str) -> bool:
    """Return whether a text can be cut between `a` and `b` and its halves normalized separately."""
    return normalizes_alone(b)


@dataclass(frozen=True, init=False)
class NFC(UnicodeNormalizer):
    """Canonical composition: `é` is one character."""

    form: ClassVar[Form] = "NFC"


@dataclass(frozen=True, init=False)
class NFD(UnicodeNormalizer):
    """Canonical decomposition: `é` is an `e` and an accent."""

    form: ClassVar[Form] = "NFD"


@dataclass(frozen=True, init=False)
class NFKC(UnicodeNormalizer):
    """Compatibility composition: `ﬁ` becomes `fi`, `²` becomes `2`, and `é` is one character."""

    form: ClassVar[Form] = "NFKC"


@dataclass(frozen=True, init=False)
class NFKD(UnicodeNormalizer):
    """Compatibility decomposition: as NFKC, but decomposed."""

    form: ClassVar[Form] = "NFKD"


_CLASSES: dict[str, type[UnicodeNormalizer]] = {"NFC": NFC, "NFD": NFD, "NFKC": NFKC, "NFKD": NFKD}
