"""Token stages: decoders that are given one token at a time and return the tokens that are settled.

A decoder works on a list of tokens. Up to the first decoder that joins them (Fuse, ByteLevel), tokens are whole, and a
stage gets them one by one. From there on there is a single token, which arrives in parts, as in `texts/stages.py`. Like
the stages there, these are immutable: they map (state, token) to (state, settled tokens).

Chapter: Streaming. Cost: linear.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Decoder

State = Any
_Tokens = tuple[Any, str]
"""All tokens but the last, in the same form (or None), and the last token."""


class TokenStage(ABC):
    """A decoder that is given one token at a time."""

    start: State = None

    @abstractmethod
    def push(self, state: State, token: str) -> tuple[State, list[str]]:
        """Return the state after `token`, and the tokens that are now settled."""

    def finish(self, state: State) -> list[str]:
        """Return the remaining tokens, at the end."""
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
    """A decoder that treats the first token differently from the others: Metaspace, WordPiece."""

    start = True

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def push(self, state: bool, token: str) -> tuple[bool, list[str]]:
        return False, self._decoder.decode_chain([token] if state else ["", token])[-1:]


class LastTokenStage(TokenStage):
    """A decoder that treats the last token differently: BPEDecoder. It holds back one token."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def push(self, state: str | None, token: str) -> tuple[str, list[str]]:
        return token, [] if state is None else self._decoder.decode_chain([state, ""])[:1]

    def finish(self, state: str | None) -> list[str]:
        return [] if state is None else self._decoder.decode_chain([state])

    def buffered(self, state: str | None) -> bytes:
        return (state or "").encode("utf-8", "replace")


class SpaceJoinStage(TokenStage):
    """The stage used without a decoder: a space before every token but the first."""

    start = True

    def push(self, state: bool, token: str) -> tuple[bool, list[str]]:
        return False, [token if state else " " + token]


class BufferAllTokens(TokenStage):
    """A stage for any other decoder: it holds back all tokens until the end."""

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
