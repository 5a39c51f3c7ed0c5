"""ByteLevel: GPT-2's pre-tokenizer, which turns text into bytes for the model.

Hugging Face writes the bytes in GPT-2's alphabet at once. Here the pieces stay ordinary text, which the rest of bpelab
expects; a `PreTokenizerSequence` writes the alphabet only if further steps follow, because those steps see it.
Chapter: Matching GPT-2 and GPT-4. Source: tokenizers/src/pre_tokenizers/byte_level.rs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ..unicode.byte_alphabet import to_alphabet
from .base import PreTokenizer
from .boundary import Boundary
from .split import Split

if TYPE_CHECKING:
    from .base import Preparation
    from .pattern_steps import PatternStep


@lru_cache(1)
def _gpt2() -> Split:
    return Split("gpt2")


@dataclass(frozen=True)
class ByteLevel(PreTokenizer):
    """Split by GPT-2's pattern if `use_regex`; `add_prefix_space` prepends a space unless there is one.

    `trim_offsets` concerns offsets and has no effect here.

    >>> ByteLevel().split("It's ½ done")
    [' It', "'s", ' ½', ' done']
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def split(self, text: str, first: bool = True) -> list[str]:
        if self.add_prefix_space:
            text = _with_prefix(text)
        if self.use_regex:
            return _gpt2().split(text)
        return [text] if text else []

    @property
    def prepends(self) -> bool:
        return self.add_prefix_space

    def without_prefix(self) -> ByteLevel:
        return ByteLevel(False, self.trim_offsets, self.use_regex)

    @property
    def as_single_split(self) -> Split | None:
        return _gpt2() if self.use_regex and not self.add_prefix_space else None

    @property
    def byte_level(self) -> bool:
        return True

    def for_next_step(self, pieces: list[str]) -> list[str]:
        return [to_alphabet(piece.encode()) for piece in pieces]

    @property
    def cuts_nothing(self) -> bool:
        return not (self.add_prefix_space or self.use_regex)

    def boundary(self, a: str, b: str) -> Boundary:
        return _gpt2().boundary(a, b) if self.use_regex else Boundary.BROKEN

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        if self.add_prefix_space and not first:
            return None
        return _gpt2().pattern_steps() if self.use_regex else []

    def preparation(self) -> Preparation | None:
        return _with_prefix if self.add_prefix_space else None


def _with_prefix(text: str, first: bool = True) -> str:
    return " " + text if text and not text.startswith(" ") else text
