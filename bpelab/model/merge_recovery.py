"""Merge recovery: find the one pair that each token of a rank table was merged from.

A tiktoken file lists tokens, not merges, and most tokens can be split into two tokens in several ways. Training made
each from one pair only: the last two tokens left when the token's own bytes are merged by lower ranks. So we test for
each split whether its two halves, side by side, stay apart at every lower rank (`compatible`). At most one split
passes, because merging is deterministic. A token for which none passes can never result from merging.

A list of merges may make a token in several ways, each with a rank of its own, as lists that were made from ranks do.
Of these too at most one is ever used, so they are tested in the order of their ranks. A merge that ranks before its own
parts can't be tested then: `early_merges.py` finds those that are used, and proves that one pair a token is enough.

Chapter: A trie. Cost: a few lookups for each cut of each token.
Source: the corollaries in rust-gems `bpe` (README), from which the test for compatibility is taken.
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ConversionError
from .early_merges import add_early_merges, last_two
from .equal_ranks import order_of_equal_ranks
from .rank_merges import RankMerges

if TYPE_CHECKING:
    from .bpe import BPEModel


class RecoveredMerges(NamedTuple):
    """The pair that each token is merged from, in rank order. Merging by these alone gives the model's ids.

    Attributes:
        splits: id -> (left id, right id), lowest rank first.
        rank_of: id -> rank, for the tokens in `splits`.
        unreachable: ids of the tokens that no sequence of merges makes.
        early: how many of them rank before one of their own parts. A training makes none.
    """

    splits: Mapping[int, tuple[int, int]]
    rank_of: Mapping[int, int]
    unreachable: tuple[int, ...]
    early: int


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
            return True  # two initial symbols: nothing is left to undo


def recover_merges(model: "BPEModel") -> RecoveredMerges:
    """Return the one pair that made each token, found from the model's merges or ranks.

    >>> from bpelab.model import BPEModel
    >>> ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256, b"bc": 257, b"abc": 258}
    >>> recover_merges(BPEModel.from_ranks(ranks)).splits[258]  # ab+c; a+bc would need bc, which ranks after ab
    (256, 99)
    """
    tokens, merges = model.tokens, model.merges
    ways = ((merge, pair) for pair in merges if (merge := merges.get(pair)) is not None)
    # of equal ranks, shorter tokens first: they may be parts of the longer ones
    rows = sorted((rank, len(tokens[new]), new, pair) for (rank, new), pair in ways)
    splits: dict[int, tuple[int, int]] = {}
    rank_of: dict[int, int] = {}
    merged: dict[tuple[int, int], int] = {}
    made = set(model.alphabet.values())
    late: list[tuple[int, int, int]] = []
    for rank, _, new, (left, right) in rows:
        if new in splits:
            continue
        if left not in made or right not in made:
            late.append((new, left, right))
        elif compatible(left, right, splits, rank_of, merged):
            splits[new], rank_of[new], merged[left, right] = (left, right), rank, rank
            made.add(new)
    early = add_early_merges(model, {new for new, *_ in late if new not in splits}, splits, rank_of)
    made = splits.keys() | model.alphabet.values()
    return RecoveredMerges(splits, rank_of, tuple(token for token in tokens if token not in made), early)


def pair_only_ranks_merge(model: "BPEModel", absent: Collection[bytes] = ()) -> tuple[bytes, bytes] | None:
    """Return two tokens that a rank table would merge but the model's merge list doesn't, or None.

    In a rank table, any two neighbours merge if their concatenation is a token. If the list makes that token, it's from
    the one pair that it ever meets. So this happens only to tokens that the list never makes, and leaves as two. Tokens
    in `absent`, which no piece contains, don't count.

    >>> from bpelab.model import BPEModel
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256, b"abc": 257}
    >>> pair_only_ranks_merge(BPEModel.from_vocab(vocab, [(b"a", b"b")]))
    (b'ab', b'c')
    """
    if isinstance(model.merges, RankMerges):
        return None
    unmade = (token_id for token_id in model.recovered_merges.unreachable if model.tokens[token_id] not in absent)
    pairs = (last_two(model, token_id) for token_id in unmade)
    return next(((model.tokens[pair[0]], model.tokens[pair[1]]) for pair in pairs if pair is not None), None)


def merges_by_ids(model: "BPEModel") -> bool:
    """Return whether a rank table in which ranks are ids provably merges every text as the model does.

    In a rank table, two tokens become neighbours only if merging their joined bytes alone reaches exactly these two:
    the same merges happen between their outer borders, in the same order. Merging a token's bytes passes through a
    single state of two tokens before the last. So at most one way to split a token is ever used, and the order of the
    others in a merge list doesn't matter. A list needs these pairs, ordered by the ids of the merged tokens. It has
    them if it has all pairs of the table, like the list that Hugging Face makes from ranks, or the recovered pairs.

    >>> from bpelab.model import BPEModel
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"bc": 256, b"ab": 257, b"abc": 258}
    >>> merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c"), (b"a", b"bc")]
    >>> [merges_by_ids(BPEModel.from_vocab(vocab, some)) for some in (merges, merges[:2] + merges[3:], merges[:3])]
    [True, True, False]
    """
    from .bpe import BPEModel

    if isinstance(model.merges, RankMerges) and model.merges.plain:
        return True
    by_rank = sorted(model.merges.values())
    if any(new > later for (_, new), (_, later) in zip(by_rank, by_rank[1:])):
        return False
    table = RankMerges(model.tokens, model.ids)
    if all(pair in model.merges for pair in table):
        return True
    found = BPEModel(model.tokens, table, model.alphabet, model.ignore_merges, model.initial_symbols).recovered_merges
    return all(pair in model.merges for pair in found.splits.values())


def merge_pairs(model: "BPEModel") -> list[tuple[int, int]]:
    """Return the merges, as pairs of ids, in the order of their ranks.

    Raises ConversionError for a rank table that has no such list.
    """
    if not isinstance(model.merges, RankMerges):
        ranks = {rank for rank, _ in model.merges.values()}
        if len(ranks) == len(model.merges):
            return sorted(model.merges, key=lambda pair: model.merges[pair][0])
    found = model.recovered_merges
    symbols = set() if model.initial_symbols is None else set(model.initial_symbols.symbols.values())
    splits = {token: pair for token, pair in found.splits.items() if token not in symbols}
    by_rank: dict[int, list[int]] = {}
    for token_id in splits:
        by_rank.setdefault(found.rank_of[token_id], []).append(token_id)
    pairs = []
    for rank, tokens in by_rank.items():
        alike = {token_id: splits[token_id] for token_id in tokens}
        order = tokens if len(tokens) == 1 else order_of_equal_ranks(alike)
        if order is None or (len(order) > 1 and found.early and _are_parts_before(set(order), rank, found)):
            token, other = (model.tokens[each].decode("utf-8", "replace") for each in tokens[:2])
            raise ConversionError(
                f"a merge list can't hold this model: {token!r} and {other!r} have the same score, so the one further "
                "left is merged first; in a list, one of two merges always comes first"
            )
        pairs += [splits[token_id] for token_id in order]
    return pairs


def _are_parts_before(tokens: set[int], rank: int, found: RecoveredMerges) -> bool:
    """Return whether one of the tokens, all of this rank, is a part of one of an earlier rank."""
    return any(found.rank_of[new] < rank and not tokens.isdisjoint(pair) for new, pair in found.splits.items())
