"""The four normal forms of Unicode, as Hugging Face's tokenizers computes them: by the rules of Unicode 9.

Python's `unicodedata` has newer rules, and a text must not get other ids because Python was updated. A character that
Unicode 9 doesn't have is left as it is, and nothing is moved across it or joined with it; for what lies between such
characters Python's function is exact, since the normal form of a character never changes once it has one.

Normalized and lossless exclude each other: after NFC, decode(encode(text)) is the normalized text.

Chapter: Regex pre-tokenization. Cost: linear; text that is in normal form already is only checked. Source: UAX #15 and
its stability policy; the crate `unicode-normalization-alignments`, tested on every code point.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import ClassVar, Literal

from ..unicode.hf_normalizer_tables import assigned_after_unicode_9

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")


_BLOCK = re.compile(r"(?s:.{1,512})[^\0-\x7f]*")
"""Some characters and what follows up to one of ASCII, which no normal form moves or joins with what is before it."""


class UnicodeNormalizer:
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


@dataclass(frozen=True, init=False)
class NFC(UnicodeNormalizer):
    """Composed: `é` is one character."""

    form: ClassVar[Form] = "NFC"


@dataclass(frozen=True, init=False)
class NFD(UnicodeNormalizer):
    """Decomposed: `é` is an `e` and an accent."""

    form: ClassVar[Form] = "NFD"


@dataclass(frozen=True, init=False)
class NFKC(UnicodeNormalizer):
    """Composed, after compatibility characters have been replaced: `ﬁ` is `fi`, `²` is `2`."""

    form: ClassVar[Form] = "NFKC"


@dataclass(frozen=True, init=False)
class NFKD(UnicodeNormalizer):
    """As NFKC, but decomposed."""

    form: ClassVar[Form] = "NFKD"


_CLASSES: dict[str, type[UnicodeNormalizer]] = {"NFC": NFC, "NFD": NFD, "NFKC": NFKC, "NFKD": NFKD}
