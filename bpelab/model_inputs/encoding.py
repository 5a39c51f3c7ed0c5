"""The tokens of one text, and a row of a batch: what a post-processor makes of one text or two.

Chapter: Streaming. Cost: linear in the tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

from ..alignment.offsets import Offsets, trim_offsets
from ..postprocessors import PostProcessor, Segment
from ..vocab.special_tokens import SpecialTokens


@dataclass(frozen=True)
class Encoded:
    """The ids of one text. Offsets, and the spaces at the edges of the tokens, are there where they were asked for."""

    ids: list[int]
    offsets: list[Offsets] | None = None
    edges: list[tuple[int, int]] | None = None

    def part(self, start: int, end: int) -> "Encoded":
        """Return the tokens from `start` to `end`."""
        return Encoded(
            self.ids[start:end],
            None if self.offsets is None else self.offsets[start:end],
            None if self.edges is None else self.edges[start:end],
        )

    def trim_offsets(self, trim_steps: Sequence[bool]) -> list[Offsets]:
        """Return the offsets after each of the `trim_steps`."""
        offsets = self.offsets or []
        for keep_first in trim_steps:
            offsets = trim_offsets(offsets, self.edges or (), keep_first)
        return offsets


class ModelInput(NamedTuple):
    """One row of a batch: lists of the same length."""

    ids: list[int]
    mask: list[int]
    types: list[int]
    special: list[int]
    offsets: list[Offsets]


def build_input(
    first: Encoded,
    second: Encoded | None,
    post_processor: PostProcessor | None,
    special: SpecialTokens,
    trim_steps: Sequence[bool],
    add_special_tokens: bool,
) -> ModelInput:
    """Return a row of one text or two, as the post-processor, if any, arranges them; what it adds can be left out."""
    texts = [first] if second is None else [first, second]
    ids = [list(text.ids) for text in texts]  # lists of their own: that is how they are found again
    if post_processor is None:
        items = [Segment(own, index, False) for index, own in enumerate(ids)]
    else:
        items = post_processor.items(ids[0], special, *ids[1:])
    row = ModelInput([], [], [], [], [])
    for item in items:
        text = next((text for text, own in zip(texts, ids) if own is item.ids), None)
        if text is None and not add_special_tokens:
            continue
        count = len(item.ids)
        row.ids.extend(item.ids)
        row.mask.extend(repeat(1, count))
        row.types.extend(repeat(item.type_id, count))
        row.special.extend(repeat(int(item.special), count))
        spans = text is not None and text.offsets is not None
        row.offsets.extend(text.trim_offsets(trim_steps) if spans else repeat((0, 0), count))  # type: ignore[union-attr]
    return row
