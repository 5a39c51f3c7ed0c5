"""Registry of pre-tokenizers, keyed by the "type" in tokenizer.json; their dataclass fields are its other keys."""

from .base import PreTokenizer
from .byte_level import ByteLevel
from .char_types import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from .metaspace import Metaspace
from .sequence import PreTokenizerSequence
from .split_pattern import SplitPattern

PRE_TOKENIZERS: dict[str, type[PreTokenizer]] = {
    "BertPreTokenizer": BertPreTokenizer,
    "ByteLevel": ByteLevel,
    "CharDelimiterSplit": CharDelimiterSplit,
    "Digits": Digits,
    "FixedLength": FixedLength,
    "Metaspace": Metaspace,
    "Punctuation": Punctuation,
    "Sequence": PreTokenizerSequence,
    "Split": SplitPattern,
    "UnicodeScripts": UnicodeScripts,
    "Whitespace": Whitespace,
    "WhitespaceSplit": WhitespaceSplit,
}
"""Hugging Face's `type` -> class."""
