"""Documents in parts that can be encoded one by one, and these in batches that keep several threads at work.

A document that comes in several fragments, perhaps all of a huge file, is cut where a cut changes no id (see
streaming/safe_places.py): each of its parts has, alone, the ids that it has in the whole. Where a tokenizer allows no
such cuts, because a normalizer or the flags of a token look further, its fragments go through a `StreamEncoder`, in
order.

Chapter: Streaming. Cost: linear. Memory: a batch, and the longest stretch of text without a place to cut, of
`MOST_HELD` characters at most.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..errors import CorpusError
from ..pipeline import Pipeline
from ..streaming.cutting import Cutter
from .documents import FRAGMENT, Fragment

MOST_HELD = 1 << 26
BATCH, MOST_PARTS = 1 << 22, 1 << 16
"""Characters and parts of a batch."""
WINDOW = 1 << 10


class Part(NamedTuple):
    """A part of a document.

    Attributes:
        text: its text.
        source: the number of the file that it is in.
        number: which part of that file it is; the fragments of a document that is encoded as a stream have one number.
        first, last: whether a document begins with it, and ends with it.
        alone: whether it can be encoded by itself.
    """

    text: str
    source: int
    number: int
    first: bool
    last: bool
    alone: bool


class SafeCuts:
    """Where a text can be cut in two for a tokenizer, whatever follows."""

    def __init__(self, pipeline: Pipeline, allowed: frozenset[str]) -> None:
        self._cutter, self._special, self._allowed = Cutter(pipeline), pipeline.special, bool(allowed)

    @classmethod
    def of(cls, pipeline: Pipeline, allowed: frozenset[str]) -> "SafeCuts | None":
        """The places of a tokenizer with these special tokens allowed; None where parts can't be encoded alone."""
        chosen = [token for token in pipeline.special.tokens if token.content in allowed]
        flagged = any(token.lstrip or token.rstrip or token.single_word or token.normalized for token in chosen)
        return None if flagged or not pipeline.plain else cls(pipeline, allowed)

    def last(self, text: str, begin: int) -> int:
        """The last place in `text` behind `begin`; 0 if there is none.

        >>> from bpelab import BPETokenizer
        >>> SafeCuts(BPETokenizer.train("abab", 257)._pipeline, frozenset()).last("two words, and", 0)
        10
        """
        stop = len(text) - (self._special.longest if self._allowed else 0)
        while stop > begin:
            start = max(begin - 1, stop - WINDOW, 0)
            window = text[start:stop]
            while (at := self._cutter.place(None, window)) is not None:
                if not self._allowed or not self._special.any_across(text, start + at):
                    return start + at
                window = window[:at]
            stop = start + 1 if start else 0
        return 0


def parts(fragments: Iterable[Fragment], source: int, path: str, cuts: SafeCuts | None) -> Iterator[Part]:
    """The parts of a file's documents. Raises CorpusError for a text that has no place to cut for too long."""
    number, document, begun = 0, 0, False
    held, searched = "", 0
    for text, last in fragments:
        if cuts is None:
            alone = last and not begun
            yield Part(text, source, number, not begun, last, alone)
            number += last
        elif last:
            yield Part(held + text if held else text, source, number, not begun, True, True)
            number, held, searched = number + 1, "", 0
        else:
            held += text
            if not (at := cuts.last(held, searched)):
                searched = len(held)
                check_held(len(held), path, document)
                continue
            yield Part(held[:at], source, number, not begun, False, True)
            number, held, searched = number + 1, held[at:], 0
        begun = not last
        document += last


def check_held(held: int, path: str, document: int) -> None:
    """Raise CorpusError where more characters are held back than a text has that anybody reads."""
    if held > MOST_HELD:
        raise CorpusError(
            f"{path}: document {document:,}, counted from 0, has more than {MOST_HELD:,} characters without a place "
            "where this tokenizer lets it be cut; leave it out, or name a separator that is in it"
        )


def batches(found: Iterable[Part]) -> Iterator[list[Part]]:
    """Parts in batches of about BATCH characters; one that can't be encoded alone is a batch by itself."""
    some: list[Part] = []
    size = 0
    for part in found:
        if not part.alone or size >= BATCH or len(some) >= MOST_PARTS:
            if some:
                yield some
            some, size = [], 0
        if part.alone:
            some.append(part)
            size += max(len(part.text), FRAGMENT // MOST_PARTS)
        else:
            yield [part]
    if some:
        yield some
