"""Pre-tokenizers: cut a text into pieces (pre-tokens) before any merge.

The names, fields and results are those of Hugging Face's tokenizers. `PRE_TOKENIZERS` maps each "type" of a
tokenizer.json to its class. It may import `boundaries`, `regex` and `unicode`. Begin with `base.py`, then `split.py`.
Chapter: Regex pre-tokenization.
"""

from .._support.lazy_imports import lazy_attributes
from .base import PreTokenizer as PreTokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..regex.patterns import PATTERNS as PATTERNS, NamedPattern as NamedPattern, find_pattern as find_pattern
    from .byte_level import ByteLevel as ByteLevel
    from .char_types import (
        BertPreTokenizer as BertPreTokenizer,
        CharDelimiterSplit as CharDelimiterSplit,
        Digits as Digits,
        FixedLength as FixedLength,
        Punctuation as Punctuation,
        UnicodeScripts as UnicodeScripts,
        Whitespace as Whitespace,
        WhitespaceSplit as WhitespaceSplit,
    )
    from .metaspace import Metaspace as Metaspace
    from .registry import PRE_TOKENIZERS as PRE_TOKENIZERS
    from .sequence import PreTokenizerSequence as PreTokenizerSequence
    from .split import Split as Split
    from .split_pattern import SplitPattern as SplitPattern

_HOMES = {
    "PRE_TOKENIZERS": "registry",
    "Split": "split",
    **dict.fromkeys(["PATTERNS", "NamedPattern", "find_pattern"], ".regex.patterns"),
    "SplitPattern": "split_pattern",
    "ByteLevel": "byte_level",
    "Metaspace": "metaspace",
    **dict.fromkeys(["BertPreTokenizer", "CharDelimiterSplit", "Digits", "FixedLength"], "char_types"),
    **dict.fromkeys(["Punctuation", "UnicodeScripts", "Whitespace", "WhitespaceSplit"], "char_types"),
    "PreTokenizerSequence": "sequence",
}

__all__ = ["PreTokenizer", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
