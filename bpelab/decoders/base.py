"""The interface of all decoders, which turn tokens, as a file writes them, back into text.

Each says too how it proceeds where tokens, or the parts of a text, arrive one by one. What it doesn't say has an answer
that is right for any decoder: all is held back until no more come.

Chapter: File formats. Source: Hugging Face tokenizers, `tokenizer/mod.rs` (`Decoder`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..texts.stages import Stage
    from .token_stages import TokenStage


class Decoder(ABC):
    """Turn a list of tokens into a list of texts: the tokens of the next decoder or, joined, the decoded text."""

    @abstractmethod
    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        """Return the texts of `tokens`.

        Bytes that are not valid UTF-8 become U+FFFD, as in Hugging Face's tokenizers, if `errors` is "replace". If it
        is "surrogateescape" they become lone surrogates U+DC80 to U+DCFF, so that none is lost.
        """

    @property
    def steps(self) -> tuple[Decoder, ...]:
        """The decoders that are applied one after the other: those of a Sequence, else this one."""
        return (self,)

    # -- streams -----------------------------------------------------------------------------------------------------

    def token_stage(self) -> TokenStage:
        """Return the stage that does what this does, a token at a time."""
        from .token_stages import BufferAllTokens

        return BufferAllTokens(self)

    def joining_stage(self) -> Stage | None:
        """Return the stage that makes one text of all tokens; None, by default, for a decoder that joins none.

        It is pushed a whole token at a time.
        """
        return None

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        """Return the stages that do in a row, to a single token in parts, what this does to the whole.

        `empty_is_none` says that an empty text has no token at all, as a CTC leaves it.
        """
        from ..texts.stages import BufferAllStage

        return [BufferAllStage(lambda text: self.decode_text(text, empty_is_none))]

    def decode_text(self, text: str, empty_is_none: bool) -> str:
        """Return what becomes of a single token, or of none."""
        return "".join(self.decode_chain([] if empty_is_none and not text else [text]))

    @property
    def drops_empty_tokens(self) -> bool:
        """Whether no empty token is left for the decoders after this one."""
        return False


def longest_allowed(tokens: Iterable[str]) -> int:
    """Return the most characters that a decoder may make of `tokens`: as many as they have, but at least 1 Mi."""
    from ..normalizers import base

    return max(base.MAX_CHARACTERS, sum(map(len, tokens)))
