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


class Merged(NamedTuple):
    """A tokenizer with the tokens of another one.

    Attributes:
        tokenizer: the new tokenizer.
        ids: the other's id -> the id here of every ordinary token of the other that is there now.
        added: the ids of the tokens that are new.
        refused: the other's id -> why a token is not there.
    """

    tokenizer: BPETokenizer
    ids: Mapping[int, int]
    added: tuple[int, ...]
    refused: Mapping[int, str]
