"""How much of a normalized text comes from the first character of the text that was given.

Metaspace "first" puts its `▁` only where a piece begins at the very beginning of the input, and Hugging Face asks that of
the text before it was normalized: white space that Strip removed was the beginning, and what follows is not.

Chapter: Regex pre-tokenization. Cost: that of the normalizer on a text of one character; for Sequence, Strip and Replace
on the whole text. Source: the alignments in tokenizers/src/tokenizer/normalizer.rs.
"""

from . import Normalizer
from .characters import Prepend, Strip, white_space
from .replace import Replace
from .sequence import NormalizerSequence


def from_first(normalizer: Normalizer, text: str, count: int = 1) -> int:
    """How many characters at the beginning of `normalizer(text)` come from the first `count` characters of `text`.

    >>> from_first(Prepend("▁"), "ab"), from_first(Strip(), " ab")
    (2, 0)
    """
    if not count or not text:
        return 0
    if isinstance(normalizer, NormalizerSequence):
        for step in normalizer.normalizers:
            count, text = from_first(step, text, count), step(text)
        return count
    if isinstance(normalizer, Prepend):
        return len(normalizer.prepend) + count
    if isinstance(normalizer, Strip):
        return max(0, count - len(text) + len(text.lstrip(white_space()))) if normalizer.strip_left else count
    if isinstance(normalizer, Replace):
        return _replaced(normalizer, text, count)
    return len(normalizer(text[:count]))


def _replaced(normalizer: Replace, text: str, count: int) -> int:
    """What is put in place of a match counts as part of its last character; where nothing matched, of the one before."""
    found = last = 0
    for start, end in normalizer.pattern.spans(text):
        found += max(0, min(start, count) - last)
        if end > count:
            return found
        found, last = found + len(normalizer.content), end
    return found + max(0, count - last)
