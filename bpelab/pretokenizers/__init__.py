"""Pre-tokenizers: what cuts a text into pieces before any merge."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .base import PreTokenizer as PreTokenizer

if TYPE_CHECKING:
    from .patterns import PATTERNS as PATTERNS, NamedPattern as NamedPattern, find_pattern as find_pattern
    from .registry import PRE_TOKENIZERS as PRE_TOKENIZERS
    from .split import Split as Split, SplitPattern as SplitPattern

_HOMES = {
    "PRE_TOKENIZERS": "registry",
    **dict.fromkeys(["PATTERNS", "NamedPattern", "find_pattern"], "patterns"),
    **dict.fromkeys(["Split", "SplitPattern"], "split"),
}

__all__ = ["PreTokenizer", *_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazily(_HOMES, globals())
