"""Partition documents into parts that can be encoded independently, and batch these to keep several threads busy.

A document in several fragments, perhaps a whole huge file, is cut at boundaries, where a cut changes no id
(see `pretokenizers/boundary.py`): each part, encoded alone, has the same ids as within the document. If a tokenizer
allows no such cuts, because a normalizer or the flags of a token look further, the fragments go through a
`StreamEncoder`, in order.

Chapter: Streaming. Cost: linear. Memory: a batch, and the longest text without a boundary, `MAX_BUFFER` characters
at most.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..core.pipeline import Pipeline
from ..corpus.documents import FRAGMENT, Fragment
from ..errors import CorpusError
from ..streaming.pre_tokenizing import StreamSplitter

MAX_BUFFER = 1 << 26
BATCH, MAX_PARTS = 1 << 22, 1 << 16
"""The size of a batch in characters, and its maximum number of parts."""
WINDOW = 1 << 10


class DocumentPart(NamedTuple):
    """A part of a document.

    Attributes:
        text: its text.
        source: the index of its file.
        number: its index in that file; the fragments of a document that is encoded as a stream share one index.
        first, last: whether it begins a document, and whether it ends one.
        alone: whether it can be encoded by itself.
    """

    text: str
    source: int
    number: int
    first: bool
    last: bool
    independent: bool


class DocumentSplitter:
    """Finds boundaries in a text that are safe whatever text follows."""

    def __init__(self, pipeline: Pipeline, allowed: frozenset[str]) -> None:
        self._splitter, self._special, self._allowed = StreamSplitter(pipeline), pipeline.special, bool(allowed)

    @classmethod
    def of(cls, pipeline: Pipeline, allowed: frozenset[str]) -> "DocumentSplitter | None":
        """Return the splitter with these special tokens allowed; None if parts can't be encoded independently."""
        chosen = [token for token in pipeline.special.tokens if token.content in allowed]
        flagged = any(token.lstrip or token.rstrip or token.single_word or token.normalized for token in chosen)
        return None if flagged or not pipeline.is_single_split else cls(pipeline, allowed)

    def last(self, text: str, begin: int) -> int:
        """Return the offset of the last boundary in `text` after `begin`; 0 if there is none.

        >>> from bpelab import BPETokenizer
        >>> DocumentSplitter(BPETokenizer.train("abab", 257).pipeline, frozenset()).last("two words, and", 0)
        10
        """
        stop = len(text) - (self._special.longest if self._allowed else 0)
        while stop > begin:
            start = max(begin - 1, stop - WINDOW, 0)
            window = text[start:stop]
            while (at := self._splitter.last_boundary(None, window)) is not None:
                if not self._allowed or not self._special.may_cross(text, start + at):
                    return start + at
                window = window[:at]
            stop = start + 1 if start else 0
        return 0


def parts(
    fragments: Iterable[Fragment], source: int, path: str, cuts: DocumentSplitter | None
) -> Iterator[DocumentPart]:
    """Yield the parts of a file's documents. Raises CorpusError as `check_buffer` does."""
    number, document, begun = 0, 0, False
    pending, searched = "", 0
    for text, last in fragments:
        if cuts is None:
            independent = last and not begun
            yield DocumentPart(text, source, number, not begun, last, independent)
            number += last
        elif last:
            yield DocumentPart(pending + text if pending else text, source, number, not begun, True, True)
            number, pending, searched = number + 1, "", 0
        else:
            pending += text
            if not (at := cuts.last(pending, searched)):
                searched = len(pending)
                check_buffer(len(pending), path, document)
                continue
            yield DocumentPart(pending[:at], source, number, not begun, False, True)
            number, pending, searched = number + 1, pending[at:], 0
        begun = not last
        document += last


def check_buffer(buffered: int, path: str, document: int) -> None:
    """Raise CorpusError if a document has no boundary within MAX_BUFFER characters."""
    if buffered > MAX_BUFFER:
        raise CorpusError(
            f"{path}: document {document:,}, counted from 0, has more than {MAX_BUFFER:,} characters without a place "
            "where this tokenizer lets it be cut; leave it out, or name a separator that is in it"
        )


def batches(parts: Iterable[DocumentPart]) -> Iterator[list[DocumentPart]]:
    """Yield parts in batches of about BATCH characters; a part that isn't independent is a batch by itself."""
    some: list[DocumentPart] = []
    size = 0
    for part in parts:
        if not part.independent or size >= BATCH or len(some) >= MAX_PARTS:
            if some:
                yield some
            some, size = [], 0
        if part.independent:
            some.append(part)
            size += max(len(part.text), FRAGMENT // MAX_PARTS)
        else:
            yield [part]
    if some:
        yield some
