"""Merge recovery: find the one pair that each token of a rank table was merged from.

A tiktoken file lists tokens, not merges, and most tokens can be split into two tokens in several ways. Training made
each from one pair only: the last two tokens left when the token's own bytes are merged by lower ranks. So we test for
each split whether its two halves, side by side, stay apart at every lower rank (`compatible`). At most one split
passes, because merging is deterministic. A token for which none passes can never result from merging.

Chapter: A trie. Cost: a few lookups for each cut of each token.
Source: the corollaries in rust-gems `bpe` (README), from which the test for compatibility is taken.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .bpe import BPEModel


class RecoveredMerges(NamedTuple):
    """The pair that each token is merged from, in rank order.

    Attributes:
        splits: id -> (left id, right id), lowest rank first.
        rank_of: id -> rank, for the tokens in `splits`.
        unreachable: ids of the tokens that no sequence of merges makes.
        exact: whether merging by `splits` alone gives the model's ids for every text. False only for hand-made
            tables in which a token ranks before its own parts.
    """

    splits: Mapping[int, tuple[int, int]]
    rank_of: Mapping[int, int]
    unreachable: tuple[int, ...]
    exact: bool


def compatible(
    left: int,
    right: int,
    splits: Mapping[int, tuple[int, int]],
    rank_of: Mapping[int, int],
    merged: Mapping[tuple[int, int], int],
) -> bool:
    """Return whether merging the bytes of two tokens, side by side, ends with exactly these two.

    Undo their merges, latest first (of two equal ones the right one came later), and each time look at the two tokens
    that meet at the border. If they had a merge that ranks before the one just undone, it would have happened first,
    and the border wouldn't exist.
    """
    limit: float = float("inf")
    while True:
        rank = merged.get((left, right))
        if rank is not None and rank < limit:
            return False
        left_rank, right_rank = rank_of.get(left, -1), rank_of.get(right, -1)
        if left_rank > right_rank:
            limit, left = left_rank, splits[left][1]
        elif right_rank >= 0:
            limit, right = right_rank + 0.5, splits[right][0]  # the border's pair is further left: it wins a tie
        else:
            return True  # two units of the alphabet: nothing is left to undo


def recover_merges(model: "BPEModel") -> RecoveredMerges:
    """Return the one pair that made each token, found from the model's merges or ranks.

    >>> from bpelab.model import BPEModel
    >>> ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256, b"bc": 257, b"abc": 258}
    >>> recover_merges(BPEModel.from_ranks(ranks)).splits[258]  # ab+c; a+bc would need bc, which ranks after ab
    (256, 99)
    """
    candidates: dict[int, list[tuple[int, tuple[int, int]]]] = {}
    for pair in model.merges:
        merge = model.merges.get(pair)
        assert merge is not None
        candidates.setdefault(merge[1], []).append((merge[0], pair))
    order = sorted((ways[0][0], token_id) for token_id, ways in candidates.items())
    splits: dict[int, tuple[int, int]] = {}
    rank_of: dict[int, int] = {}
    merged: dict[tuple[int, int], int] = {}
    alphabet = set(model.alphabet.values())
    exact = all(len({rank for rank, _ in ways}) == 1 for ways in candidates.values())
    for rank, token_id in order:
        late = False
        for _, (left, right) in candidates[token_id]:
            if any(part not in alphabet and part not in rank_of for part in (left, right)):
                late = True  # a part that ranks later, or never arises
            elif compatible(left, right, splits, rank_of, merged):
                splits[token_id], rank_of[token_id], merged[left, right] = (left, right), rank, rank
                break
        else:
            exact = exact and not late
    unreachable = tuple(i for i in model.tokens if i not in splits and i not in alphabet)
    return RecoveredMerges(splits, rank_of, unreachable, exact)


def pair_only_ranks_merge(model: "BPEModel") -> tuple[bytes, bytes] | None:
    """Return two tokens that a rank table would merge but the model's merge list doesn't, or None.

    In a rank table, any two neighbours merge if their concatenation is a token.

    >>> from bpelab.model import BPEModel
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256, b"abc": 257}
    >>> pair_only_ranks_merge(BPEModel.from_vocab(vocab, [(b"a", b"b")]))
    (b'ab', b'c')
    """
    from .bpe import RankMerges

    if isinstance(model.merges, RankMerges):
        return None
    recovered_merges, merged = model.recovered_merges, {pair: rank for pair, (rank, _) in model.merges.items()}
    for left, right in RankMerges(model.tokens, model.ids):
        if (left, right) not in merged and compatible(
            left, right, recovered_merges.splits, recovered_merges.rank_of, merged
        ):
            return model.tokens[left], model.tokens[right]
    return None


def merges_by_ids(model: "BPEModel") -> bool:
    """Return whether a rank table in which ranks are ids provably merges every text as the model does.

    In a rank table, two tokens become neighbours only if merging their joined bytes alone reaches exactly these two:
    the same merges happen between their outer borders, in the same order. Merging a token's bytes passes through a
    single state of two tokens before the last. So at most one way to split a token is ever used, and the order of the
    others in a merge list doesn't matter. A list needs these pairs, ordered by the ids of the merged tokens. It has
    them if it has all pairs of the table, like the list that Hugging Face makes from ranks, or the recovered pairs, if
    these are `exact`.

    >>> from bpelab.model import BPEModel
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257, b"abc": 258}
    >>> merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c"), (b"a", b"bc")]
    >>> [merges_by_ids(BPEModel.from_vocab(vocab, some)) for some in (merges, merges[:2] + merges[3:], merges[:3])]
    [True, True, False]
    """
    from .bpe import BPEModel, RankMerges

    if isinstance(model.merges, RankMerges) and model.merges.plain:
        return True
    by_rank = sorted(model.merges.values())
    if any(new > later for (_, new), (_, later) in zip(by_rank, by_rank[1:])):
        return False
    table = RankMerges(model.tokens, model.ids)
    if all(pair in model.merges for pair in table):
        return True
    found = BPEModel(model.tokens, table, model.alphabet, model.ignore_merges, model.units).recovered_merges
    return found.exact and all(pair in model.merges for pair in found.splits.values())
