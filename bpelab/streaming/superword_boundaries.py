"""Boundaries between words that no superword can go over, for a vocabulary whose pieces are sentences.

A pattern that leaves words together cuts too rarely for a stream. But the ids of a text can be cut between two words if
the text can be cut there for the pre-tokenizer, if no token of a word goes over the place, and if the last token of the
one word and the first of the other are side by side in no superword. Words are known once the next one has begun.

Chapter: Streaming. Cost: encoding the words of the last part of the text, which the encoder keeps.
"""

from __future__ import annotations

from ..core.pipeline import Pipeline
from ..encoders.superwords import SuperwordEncoder
from ..pretokenizers.boundary import boundary_predicate
from ..texts.text_buffer import Chain

WINDOW = 1_000
"""Characters before the new text that are looked at: a superword is shorter by far."""


class SuperwordBoundaries:
    """Where a text of words and superwords may be cut."""

    def __init__(self, pipeline: Pipeline, encoder: SuperwordEncoder) -> None:
        assert pipeline.split is not None
        self._split, self._encoder = pipeline.split, encoder
        self._safe = boundary_predicate(pipeline.split, encoder.cuts_between)

    @classmethod
    def of(cls, pipeline: Pipeline) -> SuperwordBoundaries | None:
        """Return the boundaries of a pipeline; None if its pattern cuts words, or its model has no superwords."""
        return None if pipeline.superwords is None else cls(pipeline, pipeline.superwords)

    def last(self, buffered: Chain, text: str) -> int | None:
        """Return the last boundary, relative to `text`, which is after `buffered`; None without one.

        It is negative if it is before `text`, whose beginning has shown that the last word has ended.
        """
        before = _tail(buffered)
        window = before + text
        found = (at for at in range(len(window) - 1, 0, -1) if self._safe(window[at - 1], window[at]))
        end = next(found, 0)
        if end < len(before):  # no word has ended
            return None
        cut = next(found, 0)
        for start in found:
            if self._encoder.apart(self._pieces(window[start:cut]), self._pieces(window[cut:end])):
                return cut - len(before)
            cut, end = start, cut
        return None

    def _pieces(self, text: str) -> list[bytes]:
        return [piece.encode() for piece in self._split.split(text)]


def _tail(buffered: Chain) -> str:
    """Return the last characters of a chain, a thousand at least if it has as many."""
    parts, size = list[str](), 0
    while buffered is not None and size < WINDOW:
        parts.append(buffered.part)
        size += len(buffered.part)
        buffered = buffered.before
    return "".join(reversed(parts))[-WINDOW:]
