"""Decoders that restore the spaces between words.

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `decoders/bpe.rs`, `wordpiece.rs` and
`ctc.rs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from ..normalizers.base import check_length
from ..texts.stages import LiteralStage, Stage
from .base import Decoder, longest_allowed
from .token_stages import FirstTokenStage, LastTokenStage, TokenStage

_CLEANUP = (
    (" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
    (" do not", " don't"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"),
)  # fmt: skip


def cleanup(text: str) -> str:
    """Remove the spaces before punctuation and English endings from one token's `text`.

    >>> cleanup(" do not")
    " don't"
    """
    for old, new in _CLEANUP:
        text = text.replace(old, new)
    return text


def _cleanup_stages() -> list[Stage]:
    return [stage for old, new in _CLEANUP for stage in _replacing(old, new)]


def _replacing(old: str, new: str) -> list[Stage]:
    return [LiteralStage(lambda text: text.replace(old, new), old)] if old else []


def _check_empty_divider(component: object, tokens: list[str], divider: str) -> None:
    """Raise TextTooLongError if `divider` is empty and a space at every character boundary would be too long."""
    if not divider:
        check_length(component, sum(2 * len(token) + 1 for token in tokens), longest_allowed(tokens))


@dataclass(frozen=True)
class BPEDecoder(Decoder):
    """Replace the end-of-word suffix by a space, and remove it from the last token.

    >>> BPEDecoder().decode_chain(["low", "er</w>", "tide</w>"])
    ['low', 'er ', 'tide']

    Raises TextTooLongError if an empty suffix, which doubles its input, makes the result too long.
    """

    suffix: str = "</w>"

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        _check_empty_divider(self, tokens, self.suffix)
        spaced = [token.replace(self.suffix, " ") for token in tokens[:-1]]
        return spaced + [token.replace(self.suffix, "") for token in tokens[-1:]]

    def token_stage(self) -> TokenStage:
        return LastTokenStage(self)

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        return _replacing(self.suffix, "")


@dataclass(frozen=True)
class WordPiece(Decoder):
    """Put a space before every token except the first and those that begin with `prefix`, which is removed.

    `cleanup` then removes the spaces before punctuation and English endings.

    >>> WordPiece().decode_chain(["he", "##llo", "world", "!"])
    ['he', 'llo', ' world', '!']
    """

    prefix: str = "##"
    cleanup: bool = True

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts = tokens[:1] + [
            token.removeprefix(self.prefix) if token.startswith(self.prefix) else " " + token for token in tokens[1:]
        ]
        return list(map(cleanup, texts)) if self.cleanup else texts

    def token_stage(self) -> TokenStage:
        return FirstTokenStage(self)

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        return _cleanup_stages() if self.cleanup else []


@dataclass(frozen=True)
class CTC(Decoder):
    """Drop tokens that repeat the one before, then `pad_token` inside tokens, then empty tokens.

    With `cleanup`, also remove what WordPiece cleans up and replace `word_delimiter_token` by a space; else it stays.

    >>> CTC().decode_chain(["h", "h", "<pad>", "i", "|", "|"])
    ['h', 'i', ' ']

    Raises TextTooLongError if an empty delimiter, which doubles its input, makes the result too long.
    """

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts = [token.replace(self.pad_token, "") for token, _ in groupby(tokens)]
        if self.cleanup:
            _check_empty_divider(self, texts, self.word_delimiter_token)
            texts = [cleanup(text).replace(self.word_delimiter_token, " ") for text in texts]
        return [text for text in texts if text]

    def token_stage(self) -> TokenStage:
        return CTCStage(self)

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        if self.cleanup and not self.word_delimiter_token:
            return super().text_stages(empty_is_none)
        delimited = [*_cleanup_stages(), *_replacing(self.word_delimiter_token, " ")] if self.cleanup else []
        return [*_replacing(self.pad_token, ""), *delimited]

    @property
    def drops_empty_tokens(self) -> bool:
        return True


class CTCStage(TokenStage):
    """CTC as a stage: it drops a token that repeats the one before, and holds nothing back."""

    def __init__(self, decoder: CTC) -> None:
        self._decoder = decoder

    def push(self, state: str | None, token: str) -> tuple[str, list[str]]:
        return token, [] if token == state else self._decoder.decode_chain([token])
