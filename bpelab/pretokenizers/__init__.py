"""Pre-tokenizers: what cuts a text into pieces before any merge."""

from .patterns import PATTERNS, NamedPattern, find_pattern
from .split import Split

__all__ = ["PATTERNS", "NamedPattern", "Split", "find_pattern"]
