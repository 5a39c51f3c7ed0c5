"""Token spans: the ids of a text as the pipeline makes them, each with its offsets in the original.

Chapter: Matching GPT-2 and GPT-4. Cost: that of encoding in Python, and linear for the offsets.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..alignment.offsets import TokenSpan, added_token, token_spans, token_spans_of_pieces
from ..alignment.pieces import align_pieces
from ..normalizers.base import normalize_aligned
from ..texts.aligned_string import AlignedString

if TYPE_CHECKING:
    from .pipeline import Pipeline


def encode_with_offsets(pipeline: "Pipeline", text: str, allowed: frozenset[str] = frozenset()) -> list[TokenSpan]:
    """Return the same ids as `Pipeline.ids`, each with its offsets in `text`."""
    spans: list[TokenSpan] = []
    normalize = partial(normalize_aligned, pipeline.normalizer)
    for segment, token_id, first in pipeline.segments(AlignedString.of(text), allowed, normalize):
        if token_id is not None:
            spans.append(added_token(token_id, segment))
        else:
            spans += spans_of_segment(pipeline, segment, pipeline.pre_tokenize(segment.text, first))
    return spans


def spans_of_segment(pipeline: "Pipeline", segment: AlignedString, pieces: list[str]) -> Iterable[TokenSpan]:
    """Return the tokens of a segment cut into `pieces`, with their offsets."""

    def spans_of_piece(piece: AlignedString) -> Iterator[TokenSpan]:
        return token_spans(pipeline.model, pipeline.encode_pieces([piece.text]), piece, pipeline.to_bytes)

    if pipeline.pre_tokenizer is None:  # pieces implied only by the vocabulary are one piece to the model
        return token_spans(pipeline.model, pipeline.encode_pieces(pieces), segment, pipeline.to_bytes)
    if pipeline.split is None:
        aligned = align_pieces(pipeline.pre_tokenizer, segment, pieces)
        return (token for piece in aligned for token in spans_of_piece(piece))
    return token_spans_of_pieces(pieces, segment, spans_of_piece)
