"""ByteLevel: GPT-2's pre-tokenizer, after which a model sees bytes.

Hugging Face writes the bytes in GPT-2's alphabet at once. Here the pieces stay ordinary text, which is what the rest of
bpelab takes; a `PreTokenizerSequence` writes the alphabet only where further steps follow, because those steps see it.
Chapter: Matching GPT-2 and GPT-4. Source: tokenizers/src/pre_tokenizers/byte_level.rs.
"""

from dataclasses import dataclass
from functools import lru_cache

from .base import PreTokenizer
from .split import Split


@lru_cache(1)
def _gpt2() -> Split:
    return Split("gpt2")


@dataclass(frozen=True)
class ByteLevel(PreTokenizer):
    """Split by GPT-2's pattern if `use_regex`; `add_prefix_space` prepends a space to a text that begins with none.

    `trim_offsets` concerns offsets, which are not kept here.

    >>> ByteLevel().split("It's ½ done")
    [' It', "'s", ' ½', ' done']
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    def split(self, text: str, first: bool = True) -> list[str]:
        if self.add_prefix_space and text and not text.startswith(" "):
            text = " " + text
        if self.use_regex:
            return _gpt2().split(text)
        return [text] if text else []

    @property
    def prepends(self) -> bool:
        return self.add_prefix_space

    def without_prefix(self) -> "ByteLevel":
        return ByteLevel(False, self.trim_offsets, self.use_regex)

    @property
    def as_single_split(self) -> Split | None:
        return _gpt2() if self.use_regex and not self.add_prefix_space else None

    @property
    def byte_level(self) -> bool:
        return True
