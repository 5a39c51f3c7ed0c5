"""Decoders as stages: tokens in, settled text out.

A decoder works on a list of tokens. Up to the first `Fuse` or `ByteLevel` the tokens are whole, and a stage gets them
one by one; from there on all is one token, which arrives in parts (`fused_decoder_stages.py`). Like the stages of
text these never change: they map (state, token) to (state, tokens that are settled). Chapter: Streaming. Cost:
linear.
"""

import codecs
from abc import ABC, abstractmethod
from typing import Any

from ..decoders import (
    Decoder,
    DecoderSequence,
)
from ..decoders.bytes import _SPELLED
from ..texts.text_buffer import Chain, add, joined

State = Any


class TokenStage(ABC):
    """A decoder that sees one token after the other."""

    start: State = None

    @abstractmethod
    def push(self, state: State, token: str) -> tuple[State, list[str]]:
        """Return the state after `token`, and the tokens that are settled."""

    def finish(self, state: State) -> list[str]:
        """Return the tokens that are settled when no more come."""
        return []

    def buffered(self, state: State) -> bytes:
        """Return what is held back."""
        return b""


class PerTokenStage(TokenStage):
    """A decoder that looks at one token at a time: Replace, Strip."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def push(self, state: State, token: str) -> tuple[State, list[str]]:
        return state, self._decoder.decode_chain([token])


class FirstTokenStage(TokenStage):
    """A decoder that treats the first token otherwise than those that follow: Metaspace, WordPiece."""

    start = True

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def push(self, state: bool, token: str) -> tuple[bool, list[str]]:
        return False, self._decoder.decode_chain([token] if state else ["", token])[-1:]


class LastTokenStage(TokenStage):
    """A decoder that treats the last token otherwise: BPEDecoder. That token is held back."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def push(self, state: str | None, token: str) -> tuple[str, list[str]]:
        return token, [] if state is None else self._decoder.decode_chain([state, ""])[:1]

    def finish(self, state: str | None) -> list[str]:
        return [] if state is None else self._decoder.decode_chain([state])

    def buffered(self, state: str | None) -> bytes:
        return (state or "").encode("utf-8", "replace")


class CTCStage(TokenStage):
    """CTC, which drops a token that repeats the one before. Nothing is held back."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def push(self, state: str | None, token: str) -> tuple[str, list[str]]:
        return token, [] if token == state else self._decoder.decode_chain([token])


class SpaceJoinStage(TokenStage):
    """No decoder: a space before every token but the first."""

    start = True

    def push(self, state: bool, token: str) -> tuple[bool, list[str]]:
        return False, [token if state else " " + token]


class ByteFallbackStage(TokenStage):
    """ByteFallback. Held back: bytes that are UTF-8 so far, since one that isn't spoils all side by side.

    The state is the text of the bytes, how many they are, the beginning of a character, and whether they are spoilt.
    """

    start = (None, 0, b"", False)

    def push(self, state: tuple[Chain, int, bytes, bool], token: str) -> tuple[State, list[str]]:
        spelled = _SPELLED.fullmatch(token)
        if spelled is None:
            return self.start, [*self.finish(state), token]
        text, count, begun, spoilt = state
        if spoilt:
            return state, ["\ufffd"]
        begun += bytes([int(spelled[1], 16)])
        try:
            more, used = codecs.utf_8_decode(begun, "strict", False)
            if begun[0] == 0xED and begun[1:2] >= b"\xa0":  # half a surrogate pair, which Python takes for unfinished
                raise UnicodeDecodeError("utf-8", begun, 0, 1, "a surrogate")
        except UnicodeDecodeError:
            return (None, 0, b"", True), ["\ufffd"] * (count + 1)
        return (add(text, more), count + 1, begun[used:], False), []

    def finish(self, state: tuple[Chain, int, bytes, bool]) -> list[str]:
        text, count, begun, _ = state
        if begun:
            return ["\ufffd"] * count
        return [joined(text)] if count else []

    def buffered(self, state: tuple[Chain, int, bytes, bool]) -> bytes:
        return joined(state[0]).encode() + state[2]


class BufferAllTokens(TokenStage):
    """A decoder of which nothing is known: all is held back until no more tokens come."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def push(self, state: "_Tokens | None", token: str) -> tuple["_Tokens", list[str]]:
        return (state, token), []

    def finish(self, state: "_Tokens | None") -> list[str]:
        return self._decoder.decode_chain(_listed(state))

    def buffered(self, state: "_Tokens | None") -> bytes:
        return "".join(_listed(state)).encode("utf-8", "replace")


_Tokens = tuple[Any, str]


def _listed(state: _Tokens | None) -> list[str]:
    tokens = []
    while state is not None:
        state, token = state
        tokens.append(token)
    return tokens[::-1]


def flat(decoder: Decoder | None) -> list[Decoder]:
    """Return the decoders in a Sequence, those of Sequences in it included."""
    if decoder is None:
        return []
    if isinstance(decoder, DecoderSequence):
        return [step for part in decoder.decoders for step in flat(part)]
    return [decoder]
