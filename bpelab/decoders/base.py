"""What a decoder is: it turns tokens, as a file writes them, into the text that they stand for.

Chapter: File formats. Source: Hugging Face tokenizers, `tokenizer/mod.rs` (`Decoder`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Decoder(ABC):
    """Turns a list of tokens into a list of texts, which are the next decoder's tokens, and joined are the text."""

    @abstractmethod
    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        """The texts that `tokens` stand for.

        Bytes that are no UTF-8 become U+FFFD as Hugging Face does it where `errors` is "replace", and lone surrogates
        U+DC80 to U+DCFF where it is "surrogateescape", so that none is lost.
        """


def longest_allowed(tokens: Iterable[str]) -> int:
    """The characters that a decoder may make of `tokens`: no more than they have, or 1 Mi, whichever is more."""
    from ..normalizers import base

    return max(base.MAX_CHARACTERS, sum(map(len, tokens)))
