"""Pre-tokenizers: what cuts a text into pieces before any merge."""

from .base import PreTokenizer
from .patterns import PATTERNS, NamedPattern, find_pattern
from .sequence import PRE_TOKENIZERS
from .split import Split

__all__ = ["PATTERNS", "PRE_TOKENIZERS", "NamedPattern", "PreTokenizer", "Split", "find_pattern"]
