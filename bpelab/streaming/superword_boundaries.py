"""Superword boundaries: boundaries between words that no superword can cross, for pieces of several words.

A pattern that keeps words together cuts too rarely for a stream. But a text can be cut between two words if the
pre-tokenizer allows a cut there, if no token of a word crosses it, and if the last token of the first word and the
first token of the second are adjacent in no superword. A word is complete once the next one has started.

Chapter: Streaming. Cost: encoding the words at the end of the text, which the encoder caches.
"""

from __future__ import annotations

from ..core.pipeline import Pipeline
from ..encoders.superwords import SuperwordEncoder
from ..pretokenizers.boundary import boundary_predicate
from ..texts.text_buffer import Chain

WINDOW = 1_000
"""The number of characters before the new text that are examined: superwords are far shorter."""


class SuperwordBoundaries:
    """The boundaries in a text of words and superwords."""

    def __init__(self, pipeline: Pipeline, encoder: SuperwordEncoder) -> None:
        assert pipeline.split is not None
        self._split, self._encoder = pipeline.split, encoder
        self._safe = boundary_predicate(pipeline.split, encoder.cuts_between)

    @classmethod
    def of(cls, pipeline: Pipeline) -> SuperwordBoundaries | None:
        """Return the boundaries of a pipeline; None if its pattern cuts words, or its model has no superwords."""
        return None if pipeline.superwords is None else cls(pipeline, pipeline.superwords)

    def last(self, buffered: Chain, text: str) -> int | None:
        """Return the last boundary, relative to `text`, which follows `buffered`, or None.

        It is negative if it is before `text`, when the start of `text` shows that the last word has ended.
        """
        before = _tail(buffered)
        window = before + text
        word_ends = (at for at in range(len(window) - 1, 0, -1) if self._safe(window[at - 1], window[at]))
        end = next(word_ends, 0)
        if end < len(before):  # no word has ended
            return None
        cut = next(word_ends, 0)
        for start in word_ends:
            if self._encoder.no_superword_across(self._pieces(window[start:cut]), self._pieces(window[cut:end])):
                return cut - len(before)
            cut, end = start, cut
        return None

    def _pieces(self, text: str) -> list[bytes]:
        return [piece.encode() for piece in self._split.split(text)]


def _tail(buffered: Chain) -> str:
    """Return the last characters of a chain, at least a thousand if it has that many."""
    parts, size = list[str](), 0
    while buffered is not None and size < WINDOW:
        parts.append(buffered.part)
        size += len(buffered.part)
        buffered = buffered.before
    return "".join(reversed(parts))[-WINDOW:]
