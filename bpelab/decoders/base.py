"""The interface of all decoders, which turn tokens, as a file writes them, back into text.

Each also says how it works on tokens, or parts of a text, that arrive one by one. The default is right for any decoder:
everything is held back until the end.

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
        """The decoders that are applied in order: a Sequence's steps, or just this one."""
        return (self,)

    # -- streams -----------------------------------------------------------------------------------------------------

    def token_stage(self) -> TokenStage:
        """Return the stage that does the same as this decoder, one token at a time."""
        from .token_stages import BufferAllTokens

        return BufferAllTokens(self)

    def joining_stage(self) -> Stage | None:
        """Return the stage that joins all tokens into one text; None, the default, if the decoder doesn't join them.

        It is pushed one whole token at a time.
        """
        return None

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        """Return stages that, applied in order to a token in parts, do what this does to the whole token.

        `empty_is_none` says that an empty text means no token at all, as after a CTC.
        """
        from ..texts.stages import BufferAllStage

        return [BufferAllStage(lambda text: self.decode_text(text, empty_is_none))]

    def decode_text(self, text: str, empty_is_none: bool) -> str:
        """Return the decoded text of a single token, or of none."""
        return "".join(self.decode_chain([] if empty_is_none and not text else [text]))

    @property
    def drops_empty_tokens(self) -> bool:
        """True if the decoders after this one never see an empty token."""
        return False


def longest_allowed(tokens: Iterable[str]) -> int:
    """Return the longest result allowed for `tokens`: as long as they are together, but at least 1 Mi characters."""
    from ..normalizers import base

    return max(base.MAX_CHARACTERS, sum(map(len, tokens)))
