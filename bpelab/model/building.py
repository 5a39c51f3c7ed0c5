"""The tables of a model from what files list: merges in order, a vocabulary with merges, or ranks.

Each function returns (tokens, merges, alphabet) as `BPEModel` takes them. Chapters: Training; File formats.
Cost: linear in what is listed.
"""

from __future__ import annotations

from itertools import count
from types import MappingProxyType

from ..errors import ModelError
from .rank_merges import RankMerges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .rank_merges import Merge, Pair

    Tables = tuple[Mapping[int, bytes], Mapping[Pair, Merge], Mapping[bytes, int]]

BYTES = tuple(map(bytes, zip(range(256))))
"""The 256 single bytes."""


def tables_from_merges(merges: Iterable[tuple[bytes, bytes]], reserved: Collection[int]) -> Tables:
    """Return the tables of merges in the order of learning; see `BPEModel.from_merges`."""
    free = (token_id for token_id in count() if token_id not in reserved)
    alphabet = {byte: next(free) for byte in BYTES}
    ids = dict(alphabet)
    table: dict[Pair, Merge] = {}
    for rank, (left, right) in enumerate(merges):
        for part in (left, right):
            if part not in ids:
                raise ModelError(f"merge {rank} joins {left!r} and {right!r}, but no earlier merge made {part!r}")
        pair = ids[left], ids[right]
        if pair in table:
            raise ModelError(f"merge {rank} joins {left!r} and {right!r} again: merge {table[pair][0]} did")
        new = ids.get(left + right)
        if new is None:
            new = ids[left + right] = next(free)
        table[pair] = rank, new
    tokens = {token_id: token for token, token_id in ids.items()}
    return MappingProxyType(tokens), MappingProxyType(table), MappingProxyType(alphabet)


def tables_from_vocab(
    vocab: Mapping[int, bytes] | Mapping[bytes, int], merges: Iterable[tuple[bytes, bytes]]
) -> Tables:
    """Return the tables of a vocabulary, id -> token or token -> id, and of merges; see `BPEModel.from_vocab`."""
    tokens: dict[int, bytes] = {}
    ids: dict[bytes, int] = {}
    for key, value in vocab.items():
        token, token_id = (key, value) if isinstance(key, bytes) else (value, key)
        if not isinstance(token, bytes) or isinstance(token_id, bool) or not isinstance(token_id, int):
            raise ModelError(f"a vocabulary maps ids to bytes, or bytes to ids, not {key!r} to {value!r}")
        if ids.setdefault(token, token_id) != token_id or tokens.setdefault(token_id, token) != token:
            raise ModelError(f"the token {token!r} or the id {token_id} is in the vocabulary twice")
    table: dict[Pair, Merge] = {}
    for rank, (left, right) in enumerate(merges):
        for part in (left, right, left + right):
            if part not in ids:
                raise ModelError(f"merge {rank} of {left!r} and {right!r}: the vocabulary has no id for {part!r}")
        pair = ids[left], ids[right]
        if pair in table:
            raise ModelError(f"merge {rank} joins {left!r} and {right!r} again: merge {table[pair][0]} did")
        table[pair] = rank, ids[left + right]
    return MappingProxyType(tokens), MappingProxyType(table), _byte_alphabet(ids)


def tables_from_ranks(ranks: Mapping[bytes, int]) -> Tables:
    """Return the tables of tiktoken's ranks, which are the ids; see `BPEModel.from_ranks`."""
    tokens: dict[int, bytes] = {}
    for token, rank in ranks.items():
        if not isinstance(token, bytes) or isinstance(rank, bool) or not isinstance(rank, int):
            raise ModelError(f"a rank table maps bytes to integers, not {token!r} to {rank!r}")
        if rank in tokens:
            raise ModelError(f"the tokens {tokens[rank]!r} and {token!r} have the same rank, {rank}")
        tokens[rank] = token
    ids = {token: rank for rank, token in tokens.items()}
    return MappingProxyType(tokens), RankMerges(tokens, ids), _byte_alphabet(ids)


def _byte_alphabet(ids: Mapping[bytes, int]) -> Mapping[bytes, int]:
    return MappingProxyType({byte: ids[byte] for byte in BYTES if byte in ids})
