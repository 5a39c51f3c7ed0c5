"""ByteFallback: the decoder of bytes spelled out as tokens such as `<0xE4>`.

Chapter: File formats. Cost: linear. Source: Hugging Face tokenizers, `decoders/byte_fallback.rs`.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Any

from ..texts.stages import Stage
from ..texts.text_buffer import Chain, add, join
from .base import Decoder
from .token_stages import TokenStage

_SPELLED = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")  # Rust reads +A as a number


@dataclass(frozen=True)
class ByteFallback(Decoder):
    """Byte fallback: turn tokens such as `<0xE4>` into the text of their bytes.

    If the bytes of a run of such tokens aren't valid UTF-8, each becomes U+FFFD, even if part of the run is valid.

    >>> ByteFallback().decode_chain(["a", "<0xC3>", "<0xA9>", "b", "<0x61>", "<0xFF>"])
    ['a', 'é', 'b', '\ufffd', '\ufffd']
    """

    def decode_chain(self, tokens: list[str], errors: str = "replace") -> list[str]:
        texts: list[str] = []
        data = bytearray()
        for token in tokens:
            if spelled := _SPELLED.fullmatch(token):
                data.append(int(spelled[1], 16))
            else:
                texts += [*_texts_of(data, errors), token]
                data.clear()
        return texts + _texts_of(data, errors)

    def token_stage(self) -> TokenStage:
        return ByteFallbackStage()

    def text_stages(self, empty_is_none: bool) -> list[Stage]:
        return [ByteTokenStage()]


def _texts_of(data: bytearray, errors: str) -> list[str]:
    if not data:
        return []
    try:
        return [data.decode()]
    except UnicodeDecodeError:
        return ["\ufffd"] * len(data) if errors == "replace" else [data.decode("utf-8", errors)]


class ByteFallbackStage(TokenStage):
    """ByteFallback as a stage. It holds back a run of bytes that is valid so far: one invalid byte spoils the run.

    The state is the text of the bytes, their number, an incomplete character, and whether the run is invalid.
    """

    start = (None, 0, b"", False)

    def push(self, state: tuple[Chain, int, bytes, bool], token: str) -> tuple[Any, list[str]]:
        spelled = _SPELLED.fullmatch(token)
        if spelled is None:
            return self.start, [*self.finish(state), token]
        text, count, begun, spoilt = state
        if spoilt:
            return state, ["\ufffd"]
        begun += bytes([int(spelled[1], 16)])
        try:
            more, used = codecs.utf_8_decode(begun, "strict", False)
            if begun[0] == 0xED and begun[1:2] >= b"\xa0":  # half a surrogate pair, which Python treats as incomplete
                raise UnicodeDecodeError("utf-8", begun, 0, 1, "a surrogate")
        except UnicodeDecodeError:
            return (None, 0, b"", True), ["\ufffd"] * (count + 1)
        return (add(text, more), count + 1, begun[used:], False), []

    def finish(self, state: tuple[Chain, int, bytes, bool]) -> list[str]:
        text, count, begun, _ = state
        if begun:
            return ["\ufffd"] * count
        return [join(text)] if count else []

    def buffered(self, state: tuple[Chain, int, bytes, bool]) -> bytes:
        return join(state[0]).encode() + state[2]


class ByteTokenStage(Stage):
    """ByteFallback for a single token in parts: only 6 characters can spell a byte."""

    start: str | None = ""
    LENGTH = 6

    def push(self, state: str | None, text: str) -> tuple[str | None, str]:
        if state is None or len(state) + len(text) > self.LENGTH:
            return None, (state or "") + text
        return state + text, ""

    def finish(self, state: str | None) -> str:
        return "".join(ByteFallback().decode_chain([state or ""]))

    def buffered(self, state: str | None) -> str:
        return state or ""
