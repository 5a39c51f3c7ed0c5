"""Strip: the decoder that removes a character from the ends of tokens.

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `decoders/strip.rs`.
"""

from dataclasses import dataclass

from ..pretokenizers.base import check_character
from ..texts.stages import Stage
from .base import Decoder
from .token_stages import PerTokenStage, TokenStage


@dataclass(frozen=True)
class Strip(Decoder):
    """Remove the character `content` from every token: up to `start` times at its start, up to `stop` at its end.

    >>> Strip(" ", 1, 0).decode_chain(["  two ", "words"])
    [' two ', 'words']

    Raises ValueError for a `content` that is not one character and for negative counts. If `stop` exceeds what remains
    of a token, Hugging Face breaks off; here the token is then empty.
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

    def token_stage(self) -> TokenStage:
        return PerTokenStage(self)

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        return [StripCharactersStage(self)]


class StripCharactersStage(Stage):
    """Strip as a stage. It holds back as many of its characters at the end as it may remove.

    The state is the number removed at the start, whether more can be, and the number held back.
    """

    start = (0, True, 0)

    def __init__(self, decoder: Strip) -> None:
        self._content, self._start, self._stop = decoder.content, decoder.start, decoder.stop

    def push(self, state: tuple[int, bool, int], text: str) -> tuple[tuple[int, bool, int], str]:
        removed, in_front, buffered = state
        if in_front:
            now = min(self._start - removed, len(text) - len(text.lstrip(self._content)))
            removed, text = removed + now, text[now:]
            in_front = not text and removed < self._start
        text = self._content * buffered + text
        buffered = min(self._stop, len(text) - len(text.rstrip(self._content)))
        return (removed, in_front, buffered), text[: len(text) - buffered]

    def finish(self, state: tuple[int, bool, int]) -> str:
        return ""

    def buffered(self, state: tuple[int, bool, int]) -> str:
        return self._content * state[2]
