"""Decoders after a `Fuse` or a `ByteLevel`: all tokens are one there, and its text arrives in parts.

Most treat that text as the stages of normalizers do. A ByteLevel after another one can't say anything before the end,
since one character may make all that came before it text instead of bytes. Chapter: Streaming. Cost: linear.
"""

import codecs
from collections.abc import Callable, Iterable
from functools import singledispatch

from .._support.textio import utf8
from ..decoders import CTC, BPEDecoder, ByteFallback, ByteLevel, Decoder, Fuse, Metaspace, Replace, Strip, WordPiece
from ..decoders.base import longest_allowed
from ..decoders.words import _CLEANUP
from ..normalizers.replace_stage import replacing
from ..texts.stages import BufferAllStage, CharStage, LiteralStage, Stage, State
from ..unicode.byte_alphabet import from_alphabet


def utf8_text(begun: bytes, more: bytes) -> tuple[bytes, str]:
    """Return (the beginning of a character at the end of `begun` + `more`, the text before it).

    What can't become a character any more is U+FFFD at once, so that nothing ever waits for a byte in vain.

    >>> utf8_text(b"\\xe2\\x82", b"\\xac\\xc3"), utf8_text(b"", b"\\xff\\xed\\xa0")
    ((b'\\xc3', '€'), (b'', '\ufffd\ufffd\ufffd'))
    """
    data = begun + more
    text, used = codecs.utf_8_decode(data, "replace", False)
    rest = data[used:]
    if rest[:1] == b"\xed" and rest[1:2] >= b"\xa0":  # half a surrogate pair, which Python takes for unfinished
        return b"", text + rest.decode("utf-8", "replace")
    return rest, text


class FuseStage(Stage):
    """Fuse: the tokens as they come."""

    def push(self, state: State, text: str) -> tuple[State, str]:
        return state, text

    def finish(self, state: State) -> str:
        return ""

    def buffered(self, state: State) -> str:
        return ""


class ByteLevelStage(Stage):
    """ByteLevel, a whole token at a time. Held back: the beginning of a character."""

    start = b""

    def push(self, state: bytes, text: str) -> tuple[bytes, str]:
        try:
            return utf8_text(state, from_alphabet(text))
        except ValueError:
            return utf8_text(state, utf8(text))

    def finish(self, state: bytes) -> str:
        return state.decode("utf-8", "replace")

    def buffered(self, state: bytes) -> str:
        return state.decode("utf-8", "surrogateescape")


class StripCharactersStage(Stage):
    """Strip. Held back: as many of its characters at the end as it may remove.

    The state is how many were removed in front, whether more can be, and how many are held.
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


class ByteTokenStage(Stage):
    """ByteFallback: only a text of 6 characters can spell a byte."""

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


def _on_text(decoder: Decoder, dropped: bool) -> Callable[[str], str]:
    return lambda text: "".join(decoder.decode_chain([] if dropped and not text else [text]))


def _replaced(old: str, new: str) -> list[Stage]:
    return [LiteralStage(lambda text: text.replace(old, new), old)] if old else []


def fused_stages(decoders: Iterable[Decoder]) -> list[Stage]:
    """Return the stages that do to a text in parts what `decoders` do to a single token."""
    stages, dropped = list[Stage](), False
    for decoder in decoders:
        stages += _stages(decoder, dropped)
        dropped = isinstance(decoder, CTC) or (dropped and not isinstance(decoder, (Fuse, ByteLevel)))
    return stages


@singledispatch
def _stages(decoder: Decoder, dropped: bool) -> list[Stage]:
    """Return the stages of one; `dropped` says that an empty text has no token at all, as CTC leaves it."""
    return [BufferAllStage(_on_text(decoder, dropped))]


@_stages.register
def _(decoder: Fuse, dropped: bool) -> list[Stage]:
    return []


@_stages.register
def _(decoder: Strip, dropped: bool) -> list[Stage]:
    return [StripCharactersStage(decoder)]


@_stages.register
def _(decoder: Metaspace, dropped: bool) -> list[Stage]:
    return [CharStage(_on_text(decoder, dropped))]


@_stages.register
def _(decoder: ByteFallback, dropped: bool) -> list[Stage]:
    return [ByteTokenStage()]


@_stages.register
def _(decoder: BPEDecoder, dropped: bool) -> list[Stage]:
    return _replaced(decoder.suffix, "")


@_stages.register
def _(decoder: WordPiece, dropped: bool) -> list[Stage]:
    return _cleaned() if decoder.cleanup else []


@_stages.register
def _(decoder: CTC, dropped: bool) -> list[Stage]:
    if decoder.cleanup and not decoder.word_delimiter_token:
        return [BufferAllStage(_on_text(decoder, dropped))]
    delimited = [*_cleaned(), *_replaced(decoder.word_delimiter_token, " ")] if decoder.cleanup else []
    return [*_replaced(decoder.pad_token, ""), *delimited]


@_stages.register
def _(decoder: Replace, dropped: bool) -> list[Stage]:
    return [replacing(decoder, _on_text(decoder, dropped), lambda text: longest_allowed([text]))]


def _cleaned() -> list[Stage]:
    """Return the stages that remove the spaces before punctuation, as Hugging Face's clean-up does."""
    return [stage for old, new in _CLEANUP for stage in _replaced(old, new)]
