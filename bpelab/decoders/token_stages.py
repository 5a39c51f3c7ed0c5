"""Stages of decoders that see one token after the other: a token in, the tokens that are settled out.

A decoder works on a list of tokens. Up to the first one that joins them (Fuse, ByteLevel) the tokens are whole, and a
stage gets them one by one; from there on all is one token, which arrives in parts, as for the stages of texts
(`texts/stages.py`). Like those, these never change: they map (state, token) to (state, tokens that are settled).

Chapter: Streaming. Cost: linear.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Decoder

State = Any
_Tokens = tuple[Any, str]
"""All tokens but the last, in the same form or None, and the last."""


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


class SpaceJoinStage(TokenStage):
    """No decoder: a space before every token but the first."""

    start = True

    def push(self, state: bool, token: str) -> tuple[bool, list[str]]:
        return False, [token if state else " " + token]


class BufferAllTokens(TokenStage):
    """A decoder of which nothing is known: all is held back until no more tokens come."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def push(self, state: _Tokens | None, token: str) -> tuple[_Tokens, list[str]]:
        return (state, token), []

    def finish(self, state: _Tokens | None) -> list[str]:
        return self._decoder.decode_chain(_listed(state))

    def buffered(self, state: _Tokens | None) -> bytes:
        return "".join(_listed(state)).encode("utf-8", "replace")


def _listed(state: _Tokens | None) -> list[str]:
    tokens = []
    while state is not None:
        state, token = state
        tokens.append(token)
    return tokens[::-1]
