"""A tokenizer's pre-tokenizer, for text that arrives in parts."""

from ..boundaries.from_vocabulary import VocabularyBoundaries
from ..core.pipeline import Pipeline
from ..pretokenizers.boundary import boundary_predicate
from ..texts.stages import SafePair, last_boundary
from ..texts.text_buffer import Chain, length
from .superword_boundaries import SuperwordBoundaries


class StreamSplitter:
    """Find where a text may be cut, and return the ids of its parts."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline, pre_tokenizer = pipeline, pipeline.pre_tokenizer
        without_prefix = None if pre_tokenizer is None else pre_tokenizer.without_prefix()
        self._without_prefix = None if without_prefix == pre_tokenizer else without_prefix
        self._piece_length = 0 if pre_tokenizer is None else pre_tokenizer.piece_length
        cuts = VocabularyBoundaries.of(pipeline.model)

        def implied(a: str, b: str) -> bool:
            return cuts is not None and len(cuts.split(a + b)) == 2

        self._superwords = SuperwordBoundaries.of(pipeline)
        self._safe: SafePair = implied if pre_tokenizer is None else boundary_predicate(pre_tokenizer, implied)

    def last_boundary(self, buffered: Chain, text: str) -> int | None:
        """Return the last boundary, relative to `text`, which follows `buffered`, or None.

        It is in `text`, or before it, if it is between words that no superword joins.
        """
        if self._piece_length:
            rest = (length(buffered) + len(text)) % self._piece_length
            return len(text) - rest if rest < len(text) else None
        found = last_boundary(buffered, text, self._safe)
        if self._superwords is None:
            return found
        between = self._superwords.last(buffered, text)
        return max((offset for offset in (found, between) if offset is not None), default=None)

    def more_ids(self, text: str) -> list[int]:
        """Return the ids of the text after a cut; in C, unless the beginning of the input gets a prefix."""
        if self._without_prefix is None:
            return self.pipeline.encode_segment(text, 0)
        return self.pipeline.encode_pieces(self._without_prefix.split(text, False))
