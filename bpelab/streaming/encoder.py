"""Encode a text that arrives in parts: the ids of the whole, given out as soon as they are sure.

A tokenizer can't encode the parts one by one: a word, a line break, a special token or a character may be cut in two.
But after most words there is a place where a cut changes nothing, whatever follows (`safe_pairs.py`). Text up to the
last such place is encoded, the rest is kept. Each step of a tokenizer keeps what it needs by itself: the search for
added tokens a tail that one may begin with, the normalizer a character that marks may follow, the pre-tokenizer a word.

Chapter: Streaming. Cost: as `encode`, however small the parts are. Memory: what is held back, see StreamEncoder.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TextIO

from ..added_tokens import AddedToken
from ..errors import SpecialTokenError
from ..special_tokens import Special
from ..textio import valid_text
from .cutting import Cutter
from .held import Chain, add, joined, length
from .normalizing import normalizing
from .searching import Found, Search

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

BLOCK = 1 << 16


@dataclass(slots=True)
class _Now:
    """Where a stream is. A push works on a copy, which is kept if nothing went wrong."""

    normalized: tuple[Any, ...]
    surrogate: str = ""
    checked: Found = Search.start
    characters: int = 0  # that were checked
    found: Found = Search.start
    late: Found = Search.start
    opening: Chain = None  # the text so far, where it is needed for the first piece
    begun: bool = False  # whether the prefix was given out
    given: bool = False  # whether a token or a part was
    inside: bool = False  # whether we are in a part
    is_first: bool = False  # whether it is the first one
    continued: bool = False  # whether pieces of it were given out
    held: Chain = None


_FIELDS = attrgetter(*(field.name for field in fields(_Now)))


class StreamEncoder:
    """Encodes text as it arrives. The ids of all pushes and of `finish`, joined, are those of `encode` for the whole.

    The options are those of `BPETokenizer.encode`; a disallowed special token raises when it is complete. After
    `finish` the encoder is as new.

    Memory: the longest stretch without a safe place is held back. With the named patterns that is a run of one kind: of
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
        tokenizer: BPETokenizer,
        *,
        allowed_special: Special = (),
        disallowed_special: Special = (),
        add_special_tokens: bool = True,
    ) -> None:
        self._pipeline, special = tokenizer._pipeline, tokenizer._special
        allowed = special.select(allowed_special, "allowed_special")
        disallowed = special.select(disallowed_special, "disallowed_special") - allowed

        def wanted(token: AddedToken) -> bool:
            return not token.special or token.content in allowed

        self._check = Search(special._finder_of(disallowed), lambda token: True)
        self._search = Search(special.raw_finder, wanted)
        self._normalize = normalizing(self._pipeline.normalizer)
        late = special.late_finder(self._pipeline.normalizer)
        self._late = None if late is None else Search(late, wanted)
        self._cutter = Cutter(self._pipeline)
        self._keeps_opening = self._pipeline.normalizer is not None and self._pipeline._asks_for_first
        around = tokenizer.post_processor if add_special_tokens else None
        marked = [-1] if around is None else around.apply([-1], special)
        self._prefix, self._suffix = marked[: marked.index(-1)], marked[marked.index(-1) + 1 :]
        self._now = _Now(self._normalize.start)

    def push(self, text: str) -> list[int]:
        """The ids that are sure once `text` has arrived; the first push gives the post-processor's first tokens too.

        Raises SpecialTokenError for a special token that is disallowed, and TypeError for what is no str; then it is as
        if the push had not been.
        """
        if not isinstance(text, str):
            raise TypeError(f"a StreamEncoder is pushed text (str), not {type(text).__name__}")
        return self._step(lambda now, ids: self._text(now, text, ids))

    def finish(self) -> list[int]:
        """The ids of what was held back, and the post-processor's last tokens. The encoder is as new then."""
        ids = self._step(self._end)
        self._now = _Now(self._normalize.start)
        return ids

    @property
    def pending(self) -> str:
        """The text that is held back: the end of what was pushed, part of it normalized already."""
        now = self._now
        late = self._late.held(now.late) if self._late is not None else ""
        arrived = self._search.held(now.found) + self._check.held(now.checked) + now.surrogate
        return joined(now.held) + late + self._normalize.held(now.normalized) + arrived

    def stream(self, chunks: Iterable[str]) -> Iterator[list[int]]:
        """The ids of each chunk as they become sure, then those of `finish`; no empty lists."""
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

    def _step(self, work: Callable[[_Now, list[int]], None]) -> list[int]:
        now, ids = _Now(*_FIELDS(self._now)), list[int]()
        if not now.begun:
            now.begun = True
            ids += self._prefix
        work(now, ids)
        self._now = now
        return ids

    def _text(self, now: _Now, text: str, ids: list[int]) -> None:
        text = now.surrogate + text
        now.surrogate = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = valid_text(text[: len(text) - len(now.surrogate)])
        if self._keeps_opening and not now.given:
            now.opening = add(now.opening, text)
        now.checked, text = self._check.push(now.checked, text)
        self._refuse(now, text)
        now.found, text = self._search.push(now.found, text)
        self._stretches(now, text, ids)

    def _end(self, now: _Now, ids: list[int]) -> None:
        if now.surrogate:
            now.surrogate = ""
            self._text(now, "\ufffd", ids)
        rest, now.checked = self._check.held(now.checked), Search.start
        self._refuse(now, rest)
        now.found, text = self._search.push(now.found, rest)
        self._stretches(now, text + self._search.held(now.found), ids)
        self._end_stretch(now, ids)
        ids += self._suffix

    def _refuse(self, now: _Now, text: str) -> None:
        for start, _, token in self._check.find(text):
            raise SpecialTokenError(
                f"the text holds the special token {token.content!r} at character {now.characters + start}. Pass "
                "allowed_special to encode it as one, or disallowed_special=() to encode it as plain text."
            )
        now.characters += len(text)

    def _stretches(self, now: _Now, text: str, ids: list[int]) -> None:
        """Text that is settled as far as tokens go that stand in the text as it was given."""
        for part, token_id in self._search.split(text):
            if token_id is None:
                now.normalized, ordinary = self._normalize.push(now.normalized, part)
                self._normal(now, ordinary, ids)
            else:
                self._end_stretch(now, ids)
                self._token(now, token_id, ids)

    def _end_stretch(self, now: _Now, ids: list[int]) -> None:
        rest, now.normalized = self._normalize.finish(now.normalized), self._normalize.start
        self._normal(now, rest, ids)
        if self._late is not None:
            rest, now.late = self._late.held(now.late), Search.start
            self._parts(now, rest, ids)
        self._end_part(now, ids)

    def _normal(self, now: _Now, text: str, ids: list[int]) -> None:
        if self._late is None:
            self._part(now, text, ids)
        else:
            now.late, text = self._late.push(now.late, text)
            self._parts(now, text, ids)

    def _parts(self, now: _Now, text: str, ids: list[int]) -> None:
        assert self._late is not None
        for part, token_id in self._late.split(text):
            if token_id is None:
                self._part(now, part, ids)
            else:
                self._end_part(now, ids)
                self._token(now, token_id, ids)

    def _token(self, now: _Now, token_id: int, ids: list[int]) -> None:
        now.given, now.opening = True, None
        ids.append(token_id)

    def _part(self, now: _Now, text: str, ids: list[int]) -> None:
        """More of a part without tokens."""
        if not text:
            return
        if not now.inside:
            now.inside, now.is_first, now.given = True, not now.given, True
        place = self._cutter.place(now.held, text)
        if place is None or not self._enough(now, place):
            now.held = add(now.held, text)
            return
        settled = joined(add(now.held, text[:place]))
        now.held = add(None, text[place:])
        self._pieces(now, settled, ids)

    def _enough(self, now: _Now, place: int) -> bool:
        """Whether the first piece has all that comes from the first character, of which a normalizer may make many."""
        first = self._keeps_opening and now.is_first and not now.continued
        return not first or length(now.held) + place >= self._pipeline.from_first(joined(now.opening))

    def _pieces(self, now: _Now, text: str, ids: list[int]) -> None:
        if now.continued:
            pieces = self._cutter.more_pieces(text)
        else:
            from_first = 0
            if now.is_first:
                from_first = self._pipeline.from_first(joined(now.opening)) if self._keeps_opening else 1
            pieces = self._cutter.pieces(text, from_first)
            now.continued, now.opening = True, None
        ids += self._pipeline.ids_of_pieces(pieces)

    def _end_part(self, now: _Now, ids: list[int]) -> None:
        if now.held is not None:
            self._pieces(now, joined(now.held), ids)
        now.held, now.inside, now.is_first, now.continued = None, False, False, False


def _checked(chunks: Iterable[Any]) -> Iterable[Any]:
    if isinstance(chunks, (str, bytes)) or not isinstance(chunks, Iterable):
        raise TypeError(f"a stream is an iterable of texts, not {type(chunks).__name__}; for one text, use encode")
    return chunks


def encode_iterable(tokenizer: BPETokenizer, chunks: Iterable[str] | TextIO, **options: Any) -> Iterator[int]:
    """The ids of a text that comes in chunks, or in a file opened for reading text, one by one; in bounded memory.

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
