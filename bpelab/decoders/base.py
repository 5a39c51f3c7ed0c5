"""The interface of all decoders, which turn tokens, as a file writes them, back into text.

Chapter: File formats. Source: Hugging Face tokenizers, `tokenizer/mod.rs` (`Decoder`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Decoder(ABC):
    """Turn a list of tokens into a list of texts: the tokens of the next decoder or, joined, the decoded text."""

    @abstractmethod
    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        """Return the texts of `tokens`.

        Bytes that are not valid UTF-8 become U+FFFD, as in Hugging Face's tokenizers, if `errors` is "replace". If it
        is "surrogateescape" they become lone surrogates U+DC80 to U+DCFF, so that none is lost.
        """


def longest_allowed(tokens: Iterable[str]) -> int:
    """Return the most characters that a decoder may make of `tokens`: as many as they have, but at least 1 Mi."""
    from ..normalizers import base

    return max(base.MAX_CHARACTERS, sum(map(len, tokens)))
