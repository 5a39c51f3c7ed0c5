"""What `BPETokenizer.prune` and `BPETokenizer.merge_with` return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from ..core.tokenizer import Tokenizer

Edited = TypeVar("Edited", bound=Tokenizer)
"""The class of the tokenizer that is edited, which is that of the result."""


class Pruned(NamedTuple, Generic[Edited]):
    """A tokenizer with fewer tokens.

    Attributes:
        tokenizer: the new tokenizer.
        ids: old id -> new id of every token that is left, special and added ones included.
        removed: the old ids of those that went, in the order in which they did.
    """

    tokenizer: Edited
    ids: Mapping[int, int]
    removed: tuple[int, ...]


class Merged(NamedTuple, Generic[Edited]):
    """A tokenizer with the tokens of another one.

    Attributes:
        tokenizer: the new tokenizer.
        ids: the other's id -> the id here of every ordinary token of the other that is there now.
        added: the ids of the tokens that are new.
        refused: the other's id -> why a token is not there.
    """

    tokenizer: Edited
    ids: Mapping[int, int]
    added: tuple[int, ...]
    refused: Mapping[int, str]
