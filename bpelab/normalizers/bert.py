"""BERT's normalizer: clean, put spaces around Chinese characters, strip accents, lower-case, in this order.

Chapter: Regex pre-tokenization. Cost: linear. Source: Hugging Face tokenizers, `normalizers/bert.rs`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from ..texts.aligned_string import AlignedString, by_character
from ..texts.stages import BoundaryStage, CharStage, Stage
from ..unicode.hf_normalizer_tables import bert_accents, bert_controls
from ..unicode.tables import class_body, parse_ranges
from .base import BaseNormalizer
from .characters import Lowercase, white_space
from .forms import NFD, can_cut_before

# Blocks, as BERT lists them; the end of extension D (2B820-2B91F) was lost in the port to Rust.
_CHINESE = re.compile(
    f"[{class_body(parse_ranges('3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B81F 2B920-2CEAF 2F800-2FA1F'))}]"
)


@lru_cache(1)
def _spaces() -> dict[int, str]:
    return {ord(char): " " for char in white_space()}


@dataclass(frozen=True)
class BertNormalizer(BaseNormalizer):
    """Normalize as BERT does.

    Attributes:
        clean_text: remove control characters and replace every white-space character by a space.
        handle_chinese_chars: put a space on both sides of every Chinese character.
        strip_accents: decompose and remove nonspacing marks; None means the value of `lowercase`.
        lowercase: convert every character to lower case.

    >>> BertNormalizer()("Crème\\t中")
    'creme  中 '
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    def __call__(self, text: str) -> str:
        if self.clean_text:
            text = bert_controls().sub("", text).translate(_spaces())
        if self.handle_chinese_chars:
            text = _CHINESE.sub(r" \g<0> ", text)
        if self._strips_accents:
            text = bert_accents().sub("", NFD()(text))
        return Lowercase()(text) if self.lowercase else text

    @property
    def _strips_accents(self) -> bool:
        return self.lowercase if self.strip_accents is None else self.strip_accents

    def stages(self) -> list[Stage]:
        """Return its four steps; only stripping accents, after decomposition, looks at more than one character."""
        stages: list[Stage] = [CharStage(BertNormalizer(self.clean_text, self.handle_chinese_chars, False, False))]
        if self._strips_accents:
            stages.append(BoundaryStage(BertNormalizer(False, False, True, False), can_cut_before))
        return [*stages, *Lowercase().stages()] if self.lowercase else stages

    def align(self, string: AlignedString) -> AlignedString:
        return by_character(self, string)
