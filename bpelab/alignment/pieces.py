"""A pre-tokenizer's pieces, each aligned with the original text.

Each step of a Sequence cuts the texts from the step before, and says where its pieces start. The result is compared
with the whole pre-tokenizer's pieces; if they differ, those are searched for in the text.

Chapter: File formats. Cost: linear.
"""

from collections.abc import Iterable, Iterator

from ..pretokenizers.base import PreTokenizer
from ..texts.aligned_string import AlignedString


def align_pieces(pre_tokenizer: PreTokenizer | None, string: AlignedString, pieces: list[str]) -> list[AlignedString]:
    """Return a pre-tokenizer's `pieces` of a text, aligned with the original.

    `pre_tokenizer` may be None if the pieces just cut the text.
    """
    steps = () if pre_tokenizer is None else pre_tokenizer.steps
    if len(steps) <= 1 and "".join(pieces) == string.text:
        return string.split(pieces)
    parts = [string]
    for index, step in enumerate(steps):
        if index:
            parts = [_as_seen_by_next(steps[index - 1], part) for part in parts]
        parts = [piece for part in parts for piece in _split(step, part)]
    return parts if [part.text for part in parts] == pieces else list(_locate(string, pieces))


def _split(step: PreTokenizer, string: AlignedString) -> Iterable[AlignedString]:
    """Return one step's pieces of a text; the step may drop characters or add a prefix."""
    pieces = step.split(string.text, string.base == 0)
    added = sum(map(len, pieces)) - len(string.text)
    if added > 0:
        string = string.prepend(" " * added)
    try:
        return string.split(pieces, step.piece_starts(string.text, pieces) if added < 0 else None)
    except ValueError:  # an unknown pre-tokenizer, which changes the text
        return _locate(string, pieces)


def _as_seen_by_next(step: PreTokenizer, string: AlignedString) -> AlignedString:
    chars = list(string.text)
    become = step.for_next_step(chars)
    return string if become == chars else string.map_spans(chars, become)


def _locate(string: AlignedString, pieces: Iterable[str]) -> Iterator[AlignedString]:
    """Yield the pieces where they occur in the text, in order; a piece that doesn't occur stands for the whole text."""
    at = 0
    for piece in pieces:
        start = string.text.find(piece, at)
        if start >= 0:
            at = start + len(piece)
            yield string[start:at]
        else:
            ends = [string.ends[-1] if string.text else string.base] * len(piece)
            yield AlignedString(piece, [string.base] * len(piece), ends, string.base)
