"""Registry of normalizers, keyed by the "type" in tokenizer.json; their dataclass fields are its other keys."""

from .base import Normalizer
from .bert import BertNormalizer
from .characters import ByteLevel, Lowercase, Nmt, StripAccents
from .ends import Prepend, Strip
from .forms import NFC, NFD, NFKC, NFKD
from .precompiled import Precompiled
from .replace import Replace
from .sequence import NormalizerSequence

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
