"""Encode a text that arrives in parts: the same ids as for the whole text, returned as soon as they are settled.

A tokenizer can't encode the parts one by one: a word, a line break, a special token or a character may be cut in two.
But after most words there is a boundary, where a cut changes nothing, whatever follows (`boundaries/dfa_pairs.py`).
Text up to the last boundary is encoded; the rest is held back. Each step of a tokenizer holds back what it needs: the
added-token search, a possible start of a token; the normalizer, a character that marks may follow; the pre-tokenizer, a
word.

Chapter: Streaming. Cost: as for `encode`, however small the parts are. Memory: the text held back, see StreamEncoder.
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
    """Encode text as it arrives. The ids of all pushes and `finish`, joined, equal `encode` of the whole text.

    The options are those of `BPETokenizer.encode`; a disallowed special token raises an error once it is complete.
    `finish` resets the encoder.

    Memory: the longest text without a boundary is held back. With the named patterns, that is a run of one kind:
    letters (a word, but also Chinese without punctuation), digits, or white space. A `Replace` of white space or the
    flag `lstrip` holds back a run of spaces; a normal form, a run of marks. Everything is held back until `finish` if
    nothing can be proved: without a pre-tokenizer (unless the vocabulary implies cuts, as SentencePiece's do), with a
    pattern that no table can run (long look-aheads, back-references), with UnicodeScripts for characters without a
    script, and with normalizers that aren't bpelab's.

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
        self._has_begun, self._state = False, self._pipeline.start()

    def __reduce__(self) -> tuple[object, ...]:
        return _at_the_same_place, (*self._made_of, self._has_begun, self._state)

    def push(self, text: str) -> list[int]:
        """Return the ids that are settled once `text` has arrived; the first push adds the post-processor's prefix.

        Raises SpecialTokenError for a disallowed special token, and TypeError for anything but a str; after an error,
        the encoder is unchanged.
        """
        if not isinstance(text, str):
            raise TypeError(f"a StreamEncoder is pushed text (str), not {type(text).__name__}")
        state, ids = self._state.copy(), [] if self._has_begun else [*self._prefix]
        self._pipeline.push(state, text, ids)
        self._has_begun, self._state = True, state
        return ids

    def finish(self) -> list[int]:
        """Return the ids of the remaining text, with the post-processor's last tokens, and reset the encoder."""
        state, ids = self._state.copy(), [] if self._has_begun else [*self._prefix]
        self._pipeline.finish(state, ids)
        self._has_begun, self._state = False, self._pipeline.start()
        return ids + self._suffix

    @property
    def pending(self) -> str:
        """The text that is held back: the end of the pushed text, part of it already normalized."""
        return self._pipeline.buffered(self._state)

    def stream(self, chunks: Iterable[str]) -> Iterator[list[int]]:
        """Yield the ids of each chunk once they are settled, then those of `finish`; no empty lists."""
        for chunk in _checked(chunks):
            if ids := self.push(chunk):
                yield ids
        if ids := self.finish():
            yield ids

    async def astream(self, chunks: AsyncIterable[str]) -> AsyncIterator[list[int]]:
        """Do what `stream` does, for an async iterable of chunks."""
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
    has_begun: bool,
    state: StreamState,
) -> StreamEncoder:
    """Return a pickled or copied encoder, which continues where the other one was."""
    options: dict[str, Any] = {"allowed_special": allowed, "disallowed_special": disallowed}
    encoder = StreamEncoder(tokenizer, **options, add_special_tokens=add_special_tokens)
    encoder._has_begun, encoder._state = has_begun, state  # noqa: SLF001 - of its own class, unpickled
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
