"""Append merges to a model: they rank after all others, and every existing id stays.

Chapters: Superwords; New words for an old model. Cost: copying the model's tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..model.bpe import BPEModel
from ..model.rank_merges import Merge, Pair, RankMerges
from ..trainers.learned_merge import LearnedMerge


def as_list_of_merges(model: BPEModel) -> BPEModel:
    """Return the model with the one list of merges equivalent to its ranks, or unchanged if it has merges."""
    if not isinstance(model.merges, RankMerges):
        return model
    merges = {pair: (rank, token) for rank, (token, pair) in enumerate(model.recovered_merges.splits.items())}
    return BPEModel(model.tokens, MappingProxyType(merges), model.alphabet, model.ignore_merges, model.initial_symbols)


def append_merges(
    model: BPEModel, new_merges: Iterable[LearnedMerge], next_id: int, characters: frozenset[bytes] = frozenset()
) -> BPEModel:
    """Return the model with more merges, which rank after all others; each new token gets the next id.

    Tokens in `characters` are initial symbols, which no merge makes. In a rank table, a token's merges follow from its
    rank.

    >>> model = append_merges(BPEModel.from_merges([(b"l", b"o")]), [LearnedMerge(b"lo", b"w", 2)], 300)
    >>> model.tokens[300], model.merges[256, ord("w")]
    (b'low', (1, 300))
    """
    tokens, ids, alphabet = dict(model.tokens), dict(model.ids), dict(model.alphabet)
    pairs: list[Pair] = []
    for left, right, _ in new_merges:
        token = left + right
        if token not in ids:
            ids[token], tokens[next_id] = next_id, token
            next_id += 1
        if token in characters:
            alphabet[token] = ids[token]
        else:
            pairs.append((ids[left], ids[right]))
    merges: Mapping[Pair, Merge]
    if isinstance(model.merges, RankMerges):
        merges = model.merges.extended({i: token for i, token in tokens.items() if i not in model.tokens})
    else:
        table = dict(model.merges)
        rank = 1 + max((rank for rank, _ in table.values()), default=-1)
        for left_id, right_id in pairs:
            new = ids[tokens[left_id] + tokens[right_id]]
            if table.setdefault((left_id, right_id), (rank, new)) == (rank, new):
                rank += 1
        merges = MappingProxyType(table)
    return BPEModel(
        MappingProxyType(tokens), merges, MappingProxyType(alphabet), model.ignore_merges, model.initial_symbols
    )
