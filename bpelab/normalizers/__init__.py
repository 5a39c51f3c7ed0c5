"""Normalizers: change a text before it is pre-tokenized. None is used unless a file or the user asks for one.

The names, fields and results are those of Hugging Face's tokenizers. `NORMALIZERS` maps each "type" of a
tokenizer.json to its class. It may import `boundaries`, `regex`, `texts` and `unicode`. Begin with `base.py`. Chapter:
Regex pre-tokenization.
"""

from __future__ import annotations

from .._support.lazy_imports import lazy_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import Normalizer as Normalizer, TextTooLongError as TextTooLongError
    from .bert import BertNormalizer as BertNormalizer
    from .characters import (
        ByteLevel as ByteLevel,
        Lowercase as Lowercase,
        Nmt as Nmt,
        StripAccents as StripAccents,
    )
    from .ends import Prepend as Prepend, Strip as Strip
    from .forms import (
        FORMS as FORMS,
        NFC as NFC,
        NFD as NFD,
        NFKC as NFKC,
        NFKD as NFKD,
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
    **dict.fromkeys(["ByteLevel", "Lowercase", "Nmt", "StripAccents"], "characters"),
    **dict.fromkeys(["Prepend", "Strip"], "ends"),
    **dict.fromkeys(["FORMS", "NFC", "NFD", "NFKC", "NFKD", "UnicodeNormalizer"], "forms"),
    "Precompiled": "precompiled",
    "Replace": "replace",
    "NormalizerSequence": "sequence",
}

__all__ = ["find_normalizer", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())


def find_normalizer(name: str | Normalizer | None) -> Normalizer | None:
    """Return the normal form called `name`. A normalizer is returned unchanged, or as None if it has no steps.

    Raises ValueError for an unknown name.
    """
    if not isinstance(name, str):
        if name is None:
            return None
        from .sequence import NormalizerSequence

        return None if isinstance(name, NormalizerSequence) and not name.stages() else name
    from .forms import FORMS, UnicodeNormalizer

    if name not in FORMS:
        raise ValueError(f"there is no normalizer {name!r}; choose None or one of {', '.join(FORMS)}")
    return UnicodeNormalizer(name)
