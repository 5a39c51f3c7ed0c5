"""Metaspace: the decoder that turns `▁` back into spaces.

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `pre_tokenizers/metaspace.rs`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..pretokenizers.metaspace import Metaspace as MetaspacePreTokenizer, PrependScheme
from ..texts.stages import CharStage, Stage
from .base import Decoder
from .token_stages import FirstTokenStage, TokenStage


@dataclass(frozen=True)
class Metaspace(Decoder):
    """Replace `replacement` by a space; in the first token, remove it, unless the scheme is "never".

    >>> Metaspace().decode_chain(["▁two", "▁words"])
    ['two', ' words']

    Raises ValueError for a replacement that is not one character, and for a scheme that doesn't exist.
    """

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    split: bool = True

    def __post_init__(self) -> None:
        MetaspacePreTokenizer(self.replacement, self.prepend_scheme)  # checks both

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Metaspace":
        """Return the Metaspace of a file, read as the pre-tokenizer of this name is. Raises ValueError."""
        read = MetaspacePreTokenizer.from_json(data)
        return cls(read.replacement, read.prepend_scheme, read.splits)

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        first = " " if self.prepend_scheme == "never" else ""
        texts = [token.replace(self.replacement, first) for token in tokens[:1]]
        return texts + [token.replace(self.replacement, " ") for token in tokens[1:]]

    def token_stage(self) -> TokenStage:
        return FirstTokenStage(self)

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        return [CharStage(lambda text: self.decode_text(text, empty_is_none))]
