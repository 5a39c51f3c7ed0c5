"""The tokens of one text, and the row of a batch that a post-processor builds from one text or two.

Chapter: Streaming. Cost: linear in the tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from .._support.validate import check_flags
from ..alignment.offsets import Offsets, edge_spaces, to_original_offsets, trim_offsets, trim_steps
from ..core import token_spans
from ..postprocessors import PostProcessor, Segment
from ..vocab.special_tokens import SpecialTokens

if TYPE_CHECKING:
    from ..core.tokenizer import Tokenizer
    from ..vocab.special_tokens import Special


@dataclass(frozen=True)
class Encoded:
    """The ids of one text. Offsets, and the spaces at the edges of tokens, are None unless requested."""

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


def encode_alone(
    tokenizer: "Tokenizer", text: str, allowed_special: "Special", disallowed_special: "Special"
) -> Encoded:
    """Return the ids of `text` and their offsets, without the post-processor's tokens."""
    valid, allowed = tokenizer.spec.special_tokens.check_text(text, allowed_special, disallowed_special)
    spans = token_spans.encode_with_offsets(tokenizer.pipeline, valid, allowed)
    ids = [token.id for token in spans]
    offsets = [token.offsets for token in spans]
    if len(valid) != len(text):
        offsets = to_original_offsets(text, offsets)
    if not trim_steps(tokenizer.spec.post_processor):
        return Encoded(ids, offsets)
    names = tokenizer.decode_pipeline.token_strings(ids, "error")
    texts = (name if token.added is None else token.added for token, name in zip(spans, names))
    return Encoded(ids, offsets, list(map(edge_spaces, texts)))


def encode_with_offsets(
    tokenizer: "Tokenizer",
    text: str,
    allowed_special: "Special",
    disallowed_special: "Special",
    add_special_tokens: bool,
) -> "ModelInput":
    """Return the row of one text, with offsets; `BPETokenizer.encode_with_offsets` explains the arguments."""
    check_flags(add_special_tokens=add_special_tokens)
    around = tokenizer.spec.post_processor
    encoded = encode_alone(tokenizer, text, allowed_special, disallowed_special)
    return build_input(encoded, None, around, tokenizer.spec.special_tokens, trim_steps(around), add_special_tokens)


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
    """Return a row of one text or two, as the post-processor arranges them, with or without its special tokens."""
    texts = [first] if second is None else [first, second]
    ids = [list(text.ids) for text in texts]  # new list objects: their identity tells which text they are
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
