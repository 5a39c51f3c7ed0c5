"""Derivations: for each token, the two tokens that the last merge joins to make it, if any merge does.

Merging is deterministic, and what happens between the two ends of a token doesn't depend on its context, as long
as no merge crosses an end. So a token always arises from the same two tokens as from its own bytes alone. Hence a token
*needs* these two, the tokens that they derive from, and no others. Removing a token that no other needs leaves the
rest as reachable as before.

Chapter: New words for an old model. Cost: a second for 100,000 tokens, less in C; up to five if several tokens share a
rank, because each token's merges are then run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..model.bpe import BPEModel
from ..model.early_merges import last_pair
from ..native import recovered_merges


class Derivations(NamedTuple):
    """The derivations of a model's tokens.

    Attributes:
        parts: id -> (left id, right id), for each token that merging makes.
        unreachable: the ids of tokens that merging neither makes nor starts from, lowest first.
    """

    parts: Mapping[int, tuple[int, int]]
    unreachable: tuple[int, ...]


def base_ids(model: BPEModel) -> set[int]:
    """Return the ids that need no merge: initial symbols, tokens of single bytes, and the unknown token."""
    initial_symbols = model.initial_symbols
    ids = set(model.alphabet.values())
    if initial_symbols is not None:
        ids.update((initial_symbols.byte_tokens or {}).values(), initial_symbols.symbols.values())
        ids.update(() if initial_symbols.unk_id is None else (initial_symbols.unk_id,))
    return ids


def derive_tokens(model: BPEModel) -> Derivations:
    """Return the two parts of each token, and the tokens that can't be reached.

    >>> model = BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")])
    >>> derive_tokens(model)
    Derivations(parts={256: (108, 111), 257: (256, 119)}, unreachable=())
    """
    found, unmade = recovered_merges(model), base_ids(model)
    if len(set(found.rank_of.values())) == len(found.rank_of):
        parts = {token: pair for token, pair in found.splits.items() if token not in unmade}
    else:
        alone = ((token, last_pair(model, token)) for token in model.tokens if token not in unmade)
        parts = {token: pair for token, pair in alone if pair is not None}
    return Derivations(parts, tuple(sorted(i for i in model.tokens if i not in parts and i not in unmade)))
