"""Encode a text that arrives in parts: the ids of the whole, given out as soon as they are sure.

A tokenizer can't encode the parts one by one: a word, a line break, a special token or a character may be cut in two.
But after most words there is a boundary, where a cut changes nothing whatever follows (`boundaries/dfa_pairs.py`). Text
up to the last boundary is encoded, the rest is kept. Each step of a tokenizer keeps what it needs by itself: the
search for added tokens a tail that one may begin with, the normalizer a character that marks may follow, the
pre-tokenizer a word.

Chapter: Streaming. Cost: as `encode`, however small the parts are. Memory: what is held back, see StreamEncoder.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from .._support.validate import check_flags
from ..core.tokenizer import check_tokenizer
from .pipeline import StreamPipeline, StreamState

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer
    from ..vocab.special_tokens import Special

BLOCK = 1 << 16


class StreamEncoder:
    """Encodes text as it arrives. The ids of all pushes and of `finish`, joined, are those of `encode` for the whole.

    The options are those of `BPETokenizer.encode`; a disallowed special token raises when it is complete. After
    `finish` the encoder is as new.

    Memory: the longest stretch without a boundary is held back. With the named patterns that is a run of one kind: of
    letters (a word; but also Chinese without punctuation), digits, or white space. Other bounds: a `Replace` of white
    space or a flag `lstrip` hold a run of spaces; a normal form a run of marks. Everything is held back until `finish`
    where nothing can be proved: with no pre-tokenizer at all (unless the vocabulary implies cuts, as SentencePiece's
    do), with a pattern that no table can run (long look-aheads, references), with UnicodeScripts for characters without
    a script, and for normalizers that are not bpelab's.

    >>> from bpelab import BPETokenizer
    >>> t = BPETokenizer.train("low lower lowest " * 9, vocab_size=262)
    >>> encoder = StreamEncoder(t)
    >>> encoder.push("lowes"), encoder.push("t slow"), encoder.pending, encoder.finish()
    ([], [257, 101, 260], ' slow', [32, 115, 257])

    Raises SpecialTokenError as `encode` does.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
    ) -> None:
        check_tokenizer(tokenizer)
        check_flags(add_special_tokens=add_special_tokens)
        special = tokenizer.spec.special_tokens
        allowed = special.select(allowed_special, "allowed_special")
        disallowed = special.select(disallowed_special, "disallowed_special") - allowed
        self._made_of = tokenizer, allowed, disallowed, add_special_tokens
        self._pipeline = StreamPipeline(tokenizer.pipeline, allowed, disallowed)
        around = tokenizer.spec.post_processor if add_special_tokens else None
        marked = [-1] if around is None else around.apply([-1], special)
        self._prefix, self._suffix = marked[: marked.index(-1)], marked[marked.index(-1) + 1 :]
        self._begun, self._state = False, self._pipeline.start()

    def __reduce__(self) -> tuple[object, ...]:
        return _at_the_same_place, (*self._made_of, self._begun, self._state)

    def push(self, text: str) -> list[int]:
        """Return the ids that are sure once `text` has arrived; the first push adds the post-processor's first tokens.

        Raises SpecialTokenError for a special token that is disallowed, and TypeError for what is no str; then it is as
        if the push had not been.
        """
        if not isinstance(text, str):
            raise TypeError(f"a StreamEncoder is pushed text (str), not {type(text).__name__}")
        state, ids = self._state.copy(), [] if self._begun else [*self._prefix]
        self._pipeline.push(state, text, ids)
        self._begun, self._state = True, state
        return ids

    def finish(self) -> list[int]:
        """Return the ids of what was held back, and the post-processor's last tokens. The encoder is as new then."""
        state, ids = self._state.copy(), [] if self._begun else [*self._prefix]
        self._pipeline.finish(state, ids)
        self._begun, self._state = False, self._pipeline.start()
        return ids + self._suffix

    @property
    def pending(self) -> str:
        """The text that is held back: the end of what was pushed, part of it normalized already."""
        return self._pipeline.buffered(self._state)

    def stream(self, chunks: Iterable[str]) -> Iterator[list[int]]:
        """Yield the ids of each chunk as they become sure, then those of `finish`; no empty lists."""
        for chunk in _checked(chunks):
            if ids := self.push(chunk):
                yield ids
        if ids := self.finish():
            yield ids

    async def astream(self, chunks: AsyncIterable[str]) -> AsyncIterator[list[int]]:
        """As `stream`, for chunks that are awaited."""
        async for chunk in chunks:
            if ids := self.push(chunk):
                yield ids
        if ids := self.finish():
            yield ids


def _at_the_same_place(
    tokenizer: Tokenizer,
    allowed: Special,
    disallowed: Special,
    add_special_tokens: bool,
    begun: bool,
    state: StreamState,
) -> StreamEncoder:
    """Return a pickled or copied encoder, which goes on where the other one was."""
    options: dict[str, Any] = {"allowed_special": allowed, "disallowed_special": disallowed}
    encoder = StreamEncoder(tokenizer, **options, add_special_tokens=add_special_tokens)
    encoder._begun, encoder._state = begun, state  # noqa: SLF001 - of its own class, unpickled
    return encoder


def _checked(chunks: Iterable[Any]) -> Iterable[Any]:
    if isinstance(chunks, (str, bytes)) or not isinstance(chunks, Iterable):
        raise TypeError(f"a stream is an iterable of texts, not {type(chunks).__name__}; for one text, use encode")
    return chunks


def encode_iterable(tokenizer: Tokenizer, chunks: Iterable[str] | TextIO, **options: Any) -> Iterator[int]:
    """Yield the ids of a text that arrives in chunks, or of a file opened for reading text, in bounded memory.

    The options are those of `StreamEncoder`. A file is read in blocks of 64 Ki characters, not in lines; open it with
    newline="", or its line breaks become "\\\\n".

    >>> from bpelab import BPETokenizer
    >>> list(encode_iterable(BPETokenizer.train("abab", 257), ["aba", "bc"]))
    [256, 256, 99]

    Raises TypeError for a single text, and for a file that is not opened as text.
    """
    encoder = StreamEncoder(tokenizer, **options)
    read = getattr(chunks, "read", None)
    blocks = _checked(chunks) if read is None else iter(lambda: read(BLOCK), "")
    return (token_id for ids in encoder.stream(blocks) for token_id in ids)
