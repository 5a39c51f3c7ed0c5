"""Decoders behind a `Fuse` or a `ByteLevel`: all tokens are one there, and its text arrives in parts.

Most treat that text as the stages of normalizers do. A ByteLevel behind another one can't say anything before the end,
since one character may make all that came before it text instead of bytes. Chapter: Streaming. Cost: linear.
"""

import codecs
from collections.abc import Callable, Iterable

from ..byte_alphabet import from_alphabet
from ..decoders import CTC, BPEDecoder, ByteFallback, ByteLevel, Decoder, Fuse, Metaspace, Replace, Strip, WordPiece
from ..decoders.base import longest_allowed
from ..decoders.words import _CLEANUP
from ..textio import utf8
from .replacing import replacing
from .stages import Each, Occurrences, Stage, State, Whole


def utf8_text(begun: bytes, more: bytes) -> tuple[bytes, str]:
    """(the beginning of a character at the end of `begun` + `more`, the text before it).

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


class FusedTokens(Stage):
    """Fuse: the tokens as they come."""

    def push(self, state: State, text: str) -> tuple[State, str]:
        return state, text

    def finish(self, state: State) -> str:
        return ""

    def held(self, state: State) -> str:
        return ""


class AlphabetTokens(Stage):
    """ByteLevel, a whole token at a time. Held back: the beginning of a character."""

    start = b""

    def push(self, state: bytes, text: str) -> tuple[bytes, str]:
        try:
            return utf8_text(state, from_alphabet(text))
        except ValueError:
            return utf8_text(state, utf8(text))

    def finish(self, state: bytes) -> str:
        return state.decode("utf-8", "replace")

    def held(self, state: bytes) -> str:
        return state.decode("utf-8", "surrogateescape")


class StrippedCharacters(Stage):
    """Strip. Held back: as many of its characters at the end as it may remove.

    The state is how many were removed in front, whether more can be, and how many are held.
    """

    start = (0, True, 0)

    def __init__(self, decoder: Strip) -> None:
        self._content, self._start, self._stop = decoder.content, decoder.start, decoder.stop

    def push(self, state: tuple[int, bool, int], text: str) -> tuple[tuple[int, bool, int], str]:
        removed, in_front, held = state
        if in_front:
            now = min(self._start - removed, len(text) - len(text.lstrip(self._content)))
            removed, text = removed + now, text[now:]
            in_front = not text and removed < self._start
        text = self._content * held + text
        held = min(self._stop, len(text) - len(text.rstrip(self._content)))
        return (removed, in_front, held), text[: len(text) - held]

    def finish(self, state: tuple[int, bool, int]) -> str:
        return ""

    def held(self, state: tuple[int, bool, int]) -> str:
        return self._content * state[2]


class ShortToken(Stage):
    """ByteFallback: only a text of 6 characters can spell a byte."""

    start: str | None = ""
    LENGTH = 6

    def push(self, state: str | None, text: str) -> tuple[str | None, str]:
        if state is None or len(state) + len(text) > self.LENGTH:
            return None, (state or "") + text
        return state + text, ""

    def finish(self, state: str | None) -> str:
        return "".join(ByteFallback().decode_chain([state or ""]))

    def held(self, state: str | None) -> str:
        return state or ""


def _on_text(decoder: Decoder, dropped: bool) -> Callable[[str], str]:
    return lambda text: "".join(decoder.decode_chain([] if dropped and not text else [text]))


def _replaced(old: str, new: str) -> list[Stage]:
    return [Occurrences(lambda text: text.replace(old, new), old)] if old else []


def fused_stages(decoders: Iterable[Decoder]) -> list[Stage]:
    """The stages that do to a text in parts what `decoders` do to a single token."""
    stages, dropped = list[Stage](), False
    for decoder in decoders:
        stages += _stages(decoder, dropped)
        dropped = isinstance(decoder, CTC) or (dropped and not isinstance(decoder, (Fuse, ByteLevel)))
    return stages


def _stages(decoder: Decoder, dropped: bool) -> list[Stage]:
    """The stages of one; `dropped` says that there is no token at all where the text is empty, as CTC leaves it."""
    if isinstance(decoder, Fuse):
        return []
    if isinstance(decoder, Strip):
        return [StrippedCharacters(decoder)]
    if isinstance(decoder, Metaspace):
        return [Each(_on_text(decoder, dropped))]
    if isinstance(decoder, ByteFallback):
        return [ShortToken()]
    if isinstance(decoder, BPEDecoder):
        return _replaced(decoder.suffix, "")
    cleaned = [stage for old, new in _CLEANUP for stage in _replaced(old, new)]
    if isinstance(decoder, WordPiece):
        return cleaned if decoder.cleanup else []
    if isinstance(decoder, CTC) and (decoder.word_delimiter_token or not decoder.cleanup):
        delimited = [*cleaned, *_replaced(decoder.word_delimiter_token, " ")] if decoder.cleanup else []
        return [*_replaced(decoder.pad_token, ""), *delimited]
    if isinstance(decoder, Replace):
        return [replacing(decoder, _on_text(decoder, dropped), lambda text: longest_allowed([text]))]
    return [Whole(_on_text(decoder, dropped))]
