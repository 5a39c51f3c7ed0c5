"""What `BPETokenizer.prune` and `BPETokenizer.merge_with` return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer


class Pruned(NamedTuple):
    """A tokenizer with fewer tokens.

    Attributes:
        tokenizer: the new tokenizer.
        ids: old id -> new id of every token that is left, special and added ones included.
        removed: the old ids of those that went, in the order in which they did.
    """

    tokenizer: BPETokenizer
    ids: Mapping[int, int]
    removed: tuple[int, ...]
