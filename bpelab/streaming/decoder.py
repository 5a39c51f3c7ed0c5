"""Decode ids that arrive one by one: the text of all of them, given out as soon as it is sure.

A token is bytes, and a character may be spread over several tokens; so what is decoded one id at a time shows half
characters, and what compares the texts of growing prefixes fails where the text of a prefix isn't one of the whole's.
Here bytes go through UTF-8's own automaton, and the parts of a file's decoder one after the other, each of which keeps
what it needs. Chapter: Streaming. Cost: as `decode`, however few ids come at a time.
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
    """From ids to text, in parts."""

    start: State

    def push(self, state: State, ids: Iterable[int], unknown: Unknown) -> tuple[State, str]: ...

    def finish(self, state: State) -> str: ...

    def buffered(self, state: State) -> bytes: ...


class _BytePath:
    """Tokens that are bytes. Held back: the beginning of a character, 3 bytes at most."""

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
    """A file's decoders: those that see token after token, then those that see one text."""

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
    """Decodes ids as they arrive. The texts of all pushes and of `finish`, joined, are `tokenizer.decode` of all ids.

    Half a character is never shown, and bytes that are no UTF-8 come out as U+FFFD at once, so the stream can't stall.
    After `finish` the decoder is as new.

    Held back, where tokens are bytes: the beginning of a character, at most 3 bytes. With a file's decoders: tokens
    that spell bytes, for as long as they are UTF-8, until another token comes (one wrong byte spoils all that stand
    side by side); the last token for BPEDecoder; what Strip may remove, or Replace may find, at the end. Until `finish`
    all is held back by a Replace after a Fuse whose pattern no table can run, by a ByteLevel after another or after
    a Fuse, and by decoders that are not bpelab's.

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
        """Return the text that is sure once `ids`, one or several, have arrived.

        Raises UnknownTokenError (a KeyError) for an id that doesn't exist, unless `unknown` says otherwise, and
        TypeError for what is no integer; then it is as if the push had not been.
        """
        several: Iterable[Any] = ids if isinstance(ids, Iterable) else [ids]
        ordinary = self._pipeline.without_special(several) if self._skips else several
        self._state, text = self._path.push(self._state, ordinary, self._unknown)
        return text

    def finish(self) -> str:
        """Return the text of what was held back. The decoder is as new then."""
        text = self._path.finish(self._state)
        self._state = self._path.start
        return text

    @property
    def pending(self) -> bytes:
        """What is held back, in UTF-8: bytes of a character, or the tokens that a decoder keeps."""
        return self._path.buffered(self._state)

    def stream(self, ids: Iterable[int] | Iterable[Iterable[int]]) -> Iterator[str]:
        """Yield the text of each id, or of several, as it becomes sure, then that of `finish`; never an empty one."""
        for some in ids:
            if text := self.push(some):
                yield text
        if text := self.finish():
            yield text

    async def astream(self, ids: AsyncIterable[int] | AsyncIterable[Iterable[int]]) -> AsyncIterator[str]:
        """As `stream`, for ids that are awaited."""
        async for some in ids:
            if text := self.push(some):
                yield text
        if text := self.finish():
            yield text
