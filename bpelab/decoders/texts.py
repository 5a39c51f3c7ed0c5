"""Decoders that edit the text of tokens, and the sequence of several decoders.

Chapter: File formats. Cost: linear, except for the pattern of Replace. Source: Hugging Face tokenizers,
`normalizers/replace.rs`, `decoders/strip.rs`, `fuse.rs` and `sequence.rs`.
"""

from dataclasses import dataclass

from ..normalizers.base import check_depth
from ..normalizers.replace import replace_all
from ..pretokenizers.base import check_character
from ..regex.matchers import Pattern
from .base import Decoder, longest_allowed

MAX_STEPS = 32
"""The most decoders in a sequence; each works on every token."""


@dataclass(frozen=True)
class Replace(Decoder):
    """Replace every match of `pattern` in every token by `content`.

    >>> Replace(Pattern("String", "▁"), " ").decode_chain(["▁two", "▁words"])
    [' two', ' words']

    Raises TextTooLongError for a result that is too long.
    """

    pattern: Pattern
    content: str

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts, remaining = [], longest_allowed(tokens)
        for token in tokens:
            texts.append(replace_all(self, self.pattern, token, self.content, remaining))
            remaining -= len(texts[-1])
        return texts


@dataclass(frozen=True)
class Fuse(Decoder):
    """Join all tokens into one, so that the decoders after it see the whole text.

    >>> Fuse().decode_chain(["a", "b"])
    ['ab']
    """

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        return ["".join(tokens)]


@dataclass(frozen=True)
class Strip(Decoder):
    """Remove the character `content` from every token: up to `start` times at its start, up to `stop` at its end.

    >>> Strip(" ", 1, 0).decode_chain(["  two ", "words"])
    [' two ', 'words']

    Raises ValueError for a `content` that is not one character and for negative counts. Hugging Face breaks off where
    `stop` is more than what is left of a token; here the token is then empty.
    """

    content: str
    start: int
    stop: int

    def __post_init__(self) -> None:
        check_character(self.content, "Strip: content")
        if self.start < 0 or self.stop < 0:
            raise ValueError(f"Strip: start and stop are 0 or more, not {self.start} and {self.stop}")

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        return list(map(self._strip, tokens))

    def _strip(self, token: str) -> str:
        start = min(self.start, len(token) - len(token.lstrip(self.content)))
        stop = min(self.stop, len(token) - len(token.rstrip(self.content)), len(token) - start)
        return token[start : len(token) - stop]


@dataclass(frozen=True)
class DecoderSequence(Decoder):
    """Apply the `decoders` in order, each to the output of the one before.

    >>> DecoderSequence((Fuse(), Strip(" ", 1, 0))).decode_chain([" a", " b"])
    ['a b']

    Raises ValueError for more than 32 steps and for sequences nested more than 50 deep.
    """

    decoders: tuple[Decoder, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "decoders", tuple(self.decoders))
        object.__setattr__(self, "depth", check_depth([getattr(step, "depth", 0) for step in self.decoders], MAX_STEPS))

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        for decoder in self.decoders:
            tokens = decoder.decode_chain(tokens, errors)
        return tokens
