"""Pre-tokenizers: what cuts a text into pieces before any merge."""

from .base import PreTokenizer
from .patterns import PATTERNS, NamedPattern, find_pattern
from .sequence import PRE_TOKENIZERS as UNPATTERNED
from .split import Split, SplitPattern

PRE_TOKENIZERS: dict[str, type[PreTokenizer]] = {**UNPATTERNED, "Split": SplitPattern}
"""The "type" in a tokenizer.json -> the class; its dataclass fields are the other keys."""

__all__ = ["PATTERNS", "PRE_TOKENIZERS", "NamedPattern", "PreTokenizer", "Split", "SplitPattern", "find_pattern"]
