"""Decoders that edit the text of tokens, and the sequence of several decoders.

Chapter: File formats. Cost: linear, apart from Replace's pattern. Source: Hugging Face tokenizers,
`normalizers/replace.rs`, `decoders/fuse.rs` and `sequence.rs`.
"""

from dataclasses import dataclass

from ..normalizers.base import check_depth
from ..normalizers.replace import replace_all
from ..normalizers.replace_stage import replacing
from ..regex.matchers import Pattern
from ..texts.stages import CharStage, Stage
from .base import Decoder, longest_allowed
from .token_stages import PerTokenStage, TokenStage

MAX_STEPS = 32
"""The most decoders in a sequence; each works on every token."""


@dataclass(frozen=True)
class Replace(Decoder):
    """Replace every match of `pattern` in every token by `content`.

    >>> Replace(Pattern("String", "▁"), " ").decode_chain(["▁two", "▁words"])
    [' two', ' words']

    Raises TextTooLongError if the result is too long.
    """

    pattern: Pattern
    content: str

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts, remaining = [], longest_allowed(tokens)
        for token in tokens:
            texts.append(replace_all(self, self.pattern, token, self.content, remaining))
            remaining -= len(texts[-1])
        return texts

    def token_stage(self) -> TokenStage:
        return PerTokenStage(self)

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        function = lambda text: self.decode_text(text, empty_is_none)  # noqa: E731
        return [replacing(self, function, lambda text: longest_allowed([text]))]


@dataclass(frozen=True)
class Fuse(Decoder):
    """Join all tokens into one, so that the decoders after it see the whole text.

    >>> Fuse().decode_chain(["a", "b"])
    ['ab']
    """

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        return ["".join(tokens)]

    def joining_stage(self) -> Stage:
        return CharStage(lambda text: text)

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        return []


@dataclass(frozen=True)
class DecoderSequence(Decoder):
    """Apply the `decoders` in order, each to the output of the one before.

    >>> from bpelab.decoders import Strip
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

    @property
    def steps(self) -> tuple[Decoder, ...]:
        return tuple(step for decoder in self.decoders for step in decoder.steps)
