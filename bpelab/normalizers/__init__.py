"""Normalizers change a text before it is cut into pieces. None is used unless a file or the user asks for one.

The names, fields and results are those of Hugging Face's tokenizers, and `NORMALIZERS` has all of them by the name that
a tokenizer.json gives as "type". Chapter: Regex pre-tokenization.
"""

from .base import Normalizer, TextTooLongError
from .bert import BertNormalizer
from .characters import ByteLevel, Lowercase, Nmt, Prepend, Strip, StripAccents
from .forms import FORMS, NFC, NFD, NFKC, NFKD, Form, UnicodeNormalizer
from .precompiled import Precompiled
from .replace import Replace
from .sequence import NormalizerSequence

__all__ = [
    "FORMS",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "NORMALIZERS",
    "BertNormalizer",
    "ByteLevel",
    "Form",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "NormalizerSequence",
    "Precompiled",
    "Prepend",
    "Replace",
    "Strip",
    "StripAccents",
    "TextTooLongError",
    "UnicodeNormalizer",
    "find_normalizer",
]

NORMALIZERS: dict[str, type[Normalizer]] = {
    "BertNormalizer": BertNormalizer,
    "ByteLevel": ByteLevel,
    "Lowercase": Lowercase,
    "NFC": NFC,
    "NFD": NFD,
    "NFKC": NFKC,
    "NFKD": NFKD,
    "Nmt": Nmt,
    "Precompiled": Precompiled,
    "Prepend": Prepend,
    "Replace": Replace,
    "Sequence": NormalizerSequence,
    "Strip": Strip,
    "StripAccents": StripAccents,
}
"""The "type" in a tokenizer.json -> the class; its dataclass fields are the other keys."""


def find_normalizer(name: str | Normalizer | None) -> Normalizer | None:
    """The normalizer called `name`: a normal form, or what is a normalizer already, or None.

    Raises ValueError for a name that is unknown.
    """
    if not isinstance(name, str):
        return name
    if name not in FORMS:
        raise ValueError(f"there is no normalizer {name!r}; choose None or one of {', '.join(FORMS)}")
    return UnicodeNormalizer(name)
