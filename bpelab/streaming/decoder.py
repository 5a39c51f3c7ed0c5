"""Decode ids that arrive one by one: the same text as for all of them at once, returned as soon as it is settled.

A token is bytes, and a character may span several tokens. So decoding one id at a time shows half characters, and
comparing the texts of growing prefixes fails if a prefix's text isn't a prefix of the whole text. Here bytes go through
UTF-8's own automaton or, with a file's decoder, through its components in order, each of which holds back what it
needs. Chapter: Streaming. Cost: as for `decode`, however few ids arrive at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from .._support.validate import check_flags
from ..core import detokenize
from ..core.tokenizer import check_tokenizer
from ..decoders.token_stages import SpaceJoinStage, State, TokenStage
from ..texts.stages import Stage, StageChain
from ..texts.utf8_parts import utf8_text

if TYPE_CHECKING:
    from ..core.decode_pipeline import DecodePipeline
    from ..core.detokenize import Unknown
    from ..core.tokenizer import Tokenizer
    from ..decoders import Decoder


class _DecodePath(Protocol):
    """A decoder of ids that arrive in parts; its state is passed in and returned."""

    start: State

    def push(self, state: State, ids: Iterable[int], unknown: Unknown) -> tuple[State, str]: ...

    def finish(self, state: State) -> str: ...

    def buffered(self, state: State) -> bytes: ...


class _BytePath:
    """The decode path of byte-level tokenizers. It holds back an incomplete character, at most 3 bytes."""

    start = b""

    def __init__(self, pipeline: DecodePipeline) -> None:
        self._tokens = pipeline.token_bytes

    def push(self, state: bytes, ids: Iterable[int], unknown: Unknown) -> tuple[bytes, str]:
        return utf8_text(state, b"".join(detokenize.join_tokens(ids, self._tokens, unknown)))

    def finish(self, state: bytes) -> str:
        return state.decode("utf-8", "replace")

    def buffered(self, state: bytes) -> bytes:
        return state


def fused_stages(decoders: Iterable[Decoder]) -> list[Stage]:
    """Return the stages that do to a text in parts what `decoders` do to a single token."""
    stages, empty_is_none = list[Stage](), False
    for decoder in decoders:
        stages += decoder.text_stages(empty_is_none)
        empty_is_none = decoder.drops_empty_tokens or (empty_is_none and decoder.joining_stage() is None)
    return stages


class _DecoderPath:
    """The path for a file's decoders: first those that see single tokens, then those that see the joined text."""

    def __init__(self, pipeline: DecodePipeline) -> None:
        self.token_strings, decoder = pipeline.token_strings, pipeline.spec.decoder
        steps = () if decoder is None else decoder.steps
        self._stages: list[TokenStage] = [SpaceJoinStage()] if decoder is None else []
        row: list[Stage] = []
        for number, step in enumerate(steps):
            joining = step.joining_stage()
            if joining is not None:
                row = [joining, *fused_stages(steps[number + 1 :])]
                break
            self._stages.append(step.token_stage())
        self._row = StageChain(row)
        self.start: tuple[State, ...] = (*(stage.start for stage in self._stages), self._row.start)

    def push(self, state: State, ids: Iterable[int], unknown: Unknown) -> tuple[State, str]:
        return self._through(list(state), self.token_strings(ids, unknown), 0)

    def _through(self, states: list[State], tokens: list[str], begin: int) -> tuple[State, str]:
        for number, stage in enumerate(self._stages[begin:], begin):
            out: list[str] = []
            for token in tokens:
                states[number], settled = stage.push(states[number], token)
                out += settled
            tokens = out
        parts = []
        for token in tokens:
            states[-1], text = self._row.push(states[-1], token)
            parts.append(text)
        return tuple(states), "".join(parts)

    def finish(self, state: State) -> str:
        states, texts = list(state), []
        for index, stage in enumerate(self._stages):
            new, text = self._through(states, stage.finish(states[index]), index + 1)
            states = list(new)
            texts.append(text)
        return "".join(texts) + self._row.finish(states[-1])

    def buffered(self, state: State) -> bytes:
        tokens = b"".join(reversed([stage.buffered(old) for stage, old in zip(self._stages, state)]))
        return self._row.buffered(state[-1]).encode("utf-8", "surrogateescape") + tokens


class StreamDecoder:
    """Decode ids as they arrive. The texts of all pushes and `finish`, joined, equal `tokenizer.decode` of all ids.

    Half a character is never shown, and invalid UTF-8 becomes U+FFFD at once, so the stream can't stall. `finish`
    resets the decoder.

    If tokens are bytes, an incomplete character is held back, at most 3 bytes. With a file's decoders: tokens that
    spell bytes, while they are valid UTF-8, until another token arrives (one invalid byte spoils the whole run); the
    last token, for BPEDecoder; text at the end that Strip may remove or Replace may match. Everything is held back
    until `finish` by a Replace after a Fuse whose pattern no table can run, by a ByteLevel after another or after a
    Fuse, and by decoders that aren't bpelab's.

    >>> from bpelab import BPETokenizer
    >>> decoder = StreamDecoder(BPETokenizer.train("abab", 257))
    >>> [decoder.push(i) for i in (256, 0xE2, 0x82, 0xAC, 0xFF)], decoder.push([97, 0xC3]), decoder.pending
    (['ab', '', '', '€', '\ufffd'], 'a', b'\\xc3')
    >>> decoder.finish()
    '\ufffd'

    `unknown` and `skip_special_tokens` are those of `decode`. Raises ValueError for another `unknown`.
    """

    def __init__(self, tokenizer: Tokenizer, *, skip_special_tokens: bool = False, unknown: Unknown = "error") -> None:
        check_tokenizer(tokenizer)
        detokenize.check_unknown(unknown)
        check_flags(skip_special_tokens=skip_special_tokens)
        self._pipeline, self._skips, self._unknown = tokenizer.decode_pipeline, skip_special_tokens, unknown
        path = _BytePath if self._pipeline.joins_bytes else _DecoderPath
        self._path: _DecodePath = path(self._pipeline)
        self._state = self._path.start

    def push(self, ids: int | Iterable[int]) -> str:
        """Return the text that is settled once `ids`, one or several, have arrived.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist, unless `unknown` says otherwise, and
        TypeError for anything but integers; after an error, the decoder is unchanged.
        """
        several: Iterable[Any] = ids if isinstance(ids, Iterable) else [ids]
        ordinary = self._pipeline.without_special(several) if self._skips else several
        self._state, text = self._path.push(self._state, ordinary, self._unknown)
        return text

    def finish(self) -> str:
        """Return the remaining text, and reset the decoder."""
        text = self._path.finish(self._state)
        self._state = self._path.start
        return text

    @property
    def pending(self) -> bytes:
        """What is held back, in UTF-8: bytes of a character, or tokens that a decoder holds back."""
        return self._path.buffered(self._state)

    def stream(self, ids: Iterable[int] | Iterable[Iterable[int]]) -> Iterator[str]:
        """Yield the text of each id, or of several, once it is settled, then that of `finish`; never an empty text."""
        for some in ids:
            if text := self.push(some):
                yield text
        if text := self.finish():
            yield text

    async def astream(self, ids: AsyncIterable[int] | AsyncIterable[Iterable[int]]) -> AsyncIterator[str]:
        """Do what `stream` does, for an async iterable of ids."""
        async for some in ids:
            if text := self.push(some):
                yield text
        if text := self.finish():
            yield text
