"""Normalizers change a text before it is cut into pieces. None is used unless a file or the user asks for one.

The names, fields and results are those of Hugging Face's tokenizers, and `NORMALIZERS` has all of them by the name that
a tokenizer.json gives as "type". Chapter: Regex pre-tokenization.
"""

from __future__ import annotations

from ..lazy import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import Normalizer as Normalizer, TextTooLongError as TextTooLongError
    from .bert import BertNormalizer as BertNormalizer
    from .characters import (
        ByteLevel as ByteLevel,
        Lowercase as Lowercase,
        Nmt as Nmt,
        Prepend as Prepend,
        Strip as Strip,
        StripAccents as StripAccents,
    )
    from .forms import (
        FORMS as FORMS,
        NFC as NFC,
        NFD as NFD,
        NFKC as NFKC,
        NFKD as NFKD,
        Form as Form,
        UnicodeNormalizer as UnicodeNormalizer,
    )
    from .precompiled import Precompiled as Precompiled
    from .registry import NORMALIZERS as NORMALIZERS
    from .replace import Replace as Replace
    from .sequence import NormalizerSequence as NormalizerSequence

_HOMES = {
    "NORMALIZERS": "registry",
    **dict.fromkeys(["Normalizer", "TextTooLongError"], "base"),
    "BertNormalizer": "bert",
    **dict.fromkeys(["ByteLevel", "Lowercase", "Nmt", "Prepend", "Strip", "StripAccents"], "characters"),
    **dict.fromkeys(["FORMS", "NFC", "NFD", "NFKC", "NFKD", "Form", "UnicodeNormalizer"], "forms"),
    "Precompiled": "precompiled",
    "Replace": "replace",
    "NormalizerSequence": "sequence",
}

__all__ = ["find_normalizer", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazily(_HOMES, globals())


def find_normalizer(name: str | Normalizer | None) -> Normalizer | None:
    """The normalizer called `name`: a normal form, or what is a normalizer already, or None.

    Raises ValueError for a name that is unknown.
    """
    if not isinstance(name, str):
        return name
    from .forms import FORMS, UnicodeNormalizer

    if name not in FORMS:
        raise ValueError(f"there is no normalizer {name!r}; choose None or one of {', '.join(FORMS)}")
    return UnicodeNormalizer(name)
