"""A pre-tokenizer's pieces, each aligned with the original text.

Each step of a Sequence cuts the texts from the step before, and says where its pieces start. The result is compared
with the whole pre-tokenizer's pieces; if they differ, those are searched for in the text.

Chapter: File formats. Cost: linear.
"""

from collections.abc import Iterable, Iterator

from ..pretokenizers.base import PreTokenizer
from ..texts.aligned_string import AlignedString


def align_pieces(pre_tokenizer: PreTokenizer | None, given: AlignedString, pieces: list[str]) -> list[AlignedString]:
    """Return a pre-tokenizer's `pieces` of a text, aligned with the original.

    `pre_tokenizer` may be None if the pieces just cut the text.
    """
    steps = () if pre_tokenizer is None else pre_tokenizer.steps
    if len(steps) <= 1 and "".join(pieces) == given.text:
        return given.split(pieces)
    parts = [given]
    for index, step in enumerate(steps):
        if index:
            parts = [_as_seen_by_next(steps[index - 1], part) for part in parts]
        parts = [piece for part in parts for piece in _split(step, part)]
    return parts if [part.text for part in parts] == pieces else list(_locate(given, pieces))


def _split(step: PreTokenizer, given: AlignedString) -> Iterable[AlignedString]:
    """Return one step's pieces of a text; the step may drop characters or add a prefix."""
    pieces = step.split(given.text, given.base == 0)
    added = sum(map(len, pieces)) - len(given.text)
    if added > 0:
        given = given.prepend(" " * added)
    try:
        return given.split(pieces, step.piece_starts(given.text, pieces) if added < 0 else None)
    except ValueError:  # an unknown pre-tokenizer, which changes the text
        return _locate(given, pieces)


def _as_seen_by_next(step: PreTokenizer, given: AlignedString) -> AlignedString:
    chars = list(given.text)
    become = step.for_next_step(chars)
    return given if become == chars else given.map_spans(chars, become)


def _locate(given: AlignedString, pieces: Iterable[str]) -> Iterator[AlignedString]:
    """Yield the pieces where they occur in the text, in order; a piece that doesn't occur stands for the whole text."""
    at = 0
    for piece in pieces:
        start = given.text.find(piece, at)
        if start >= 0:
            at = start + len(piece)
            yield given[start:at]
        else:
            ends = [given.ends[-1] if given.text else given.base] * len(piece)
            yield AlignedString(piece, [given.base] * len(piece), ends, given.base)
