"""Merge recovery: find the one pair that each token of a rank table was merged from.

A tiktoken file lists tokens, not merges, and most tokens can be split into two tokens in several ways. Training made
each from one pair only: the last two tokens left when the token's own bytes are merged by lower ranks. So we test for
each split whether its two halves, side by side, stay apart at every lower rank (`compatible`). At most one split
passes, because merging is deterministic. A token for which none passes can never result from merging.

A list of merges may make a token in several ways, each with a rank of its own, as lists that were made from ranks do.
Of these too at most one is ever used, so they are tested in the order of their ranks. A merge that ranks before its own
parts can't be tested then: the result is `exact` only if no token needs such a merge.

Chapter: A trie. Cost: a few lookups for each cut of each token.
Source: the corollaries in rust-gems `bpe` (README), from which the test for compatibility is taken.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ConversionError
from .rank_merges import RankMerges

if TYPE_CHECKING:
    from .bpe import BPEModel


MAX_RUN = 64
"""The longest run of one unit, in units, for which an order among equal ranks is proved."""


class RecoveredMerges(NamedTuple):
    """The pair that each token is merged from, in rank order.

    Attributes:
        splits: id -> (left id, right id), lowest rank first.
        rank_of: id -> rank, for the tokens in `splits`.
        unreachable: ids of the tokens that no sequence of merges makes.
        exact: whether merging by `splits` alone gives the model's ids for every text. False only for hand-made
            tables in which a token that no other merge makes ranks before its own parts.
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
    exact = not any(new not in splits and left in made and right in made for new, left, right in late)
    return RecoveredMerges(splits, rank_of, tuple(token for token in tokens if token not in made), exact)


def order_of_equal_ranks(splits: Mapping[int, tuple[int, int]]) -> list[int] | None:
    """Order tokens of equal rank so that a list of merges has the same effect; return None if no such order is known.

    `splits` has the two parts of each, shorter tokens first. Merges of one rank happen from left to right, and those of
    a list one after another, each everywhere. Where no two tokens can overlap, the order doesn't matter. The other case
    is a run of one unit, such as 2, 3, 4 ... spaces: then the longest comes first, if that is the same
    (`_is_longest_first`). No token of an earlier rank has one of these as a part (see `recover_merges`), so nothing
    happens in between.

    >>> order_of_equal_ranks({10: (1, 2), 11: (3, 4)}), order_of_equal_ranks({10: (1, 2), 11: (2, 3)})
    ([10, 11], None)
    >>> order_of_equal_ranks({10: (1, 1), 11: (10, 1), 12: (11, 10)})
    [12, 11, 10]
    """
    powers: dict[int, tuple[int, int]] = {}  # token -> its unit, and how often it is repeated
    runs: dict[int, dict[tuple[int, int], int]] = {}
    for token, parts in splits.items():
        (unit, left), (other, right) = (powers.get(part, (part, 1)) for part in parts)
        if unit == other and unit not in splits:
            powers[token] = unit, left + right
            runs.setdefault(unit, {})[left, right] = left + right
    lefts, rights = ({parts[side] for parts in splits.values()} for side in (0, 1))
    for token in splits.keys() - powers:
        left, right = splits[token]
        if left in rights or right in lefts or not {left, right}.isdisjoint(splits) or token in lefts | rights:
            return None
    if not all(map(_is_longest_first, runs.values())):
        return None
    return sorted(splits, key=lambda token: -powers.get(token, (token, 0))[1])


def _is_longest_first(run: Mapping[tuple[int, int], int]) -> bool:
    """Return whether merging a run of one unit from left to right is the same as preferring the longest result.

    `run` maps the lengths of two neighbours to that of the token that they become. Up to twice the longest token, both
    orders are tried. If they take the same steps, they do so for all lengths: the leftmost merges reach the longest
    token without touching what follows it, nothing merges with it, and the rest is a shorter run.
    """
    longest = max(run.values())
    if longest > MAX_RUN:
        return False
    steps = {size: _steps_of_run(run, size, False) for size in range(2, 2 * longest + 1)}
    return steps[longest][-1] == (0, longest) and all(
        _steps_of_run(run, size, True) == taken for size, taken in steps.items()
    )


def _steps_of_run(run: Mapping[tuple[int, int], int], size: int, longest_first: bool) -> list[tuple[int, int]]:
    """Return the merges of a run of `size` units, in order: the left part's index, and the length of the result."""
    lengths, steps = [1] * size, list[tuple[int, int]]()
    while True:
        possible = [(at, run[pair]) for at, pair in enumerate(zip(lengths, lengths[1:])) if pair in run]
        if not possible:
            return steps
        at, length = min(possible, key=lambda step: (-step[1] if longest_first else 0, step[0]))
        lengths[at : at + 2] = [length]
        steps.append((at, length))


def pair_only_ranks_merge(model: "BPEModel") -> tuple[bytes, bytes] | None:
    """Return two tokens that a rank table would merge but the model's merge list doesn't, or None.

    In a rank table, any two neighbours merge if their concatenation is a token.

    >>> from bpelab.model import BPEModel
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"ab": 256, b"abc": 257}
    >>> pair_only_ranks_merge(BPEModel.from_vocab(vocab, [(b"a", b"b")]))
    (b'ab', b'c')
    """
    from .rank_merges import RankMerges

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
    from .bpe import BPEModel
    from .rank_merges import RankMerges

    if isinstance(model.merges, RankMerges) and model.merges.plain:
        return True
    by_rank = sorted(model.merges.values())
    if any(new > later for (_, new), (_, later) in zip(by_rank, by_rank[1:])):
        return False
    table = RankMerges(model.tokens, model.ids)
    if all(pair in model.merges for pair in table):
        return True
    found = BPEModel(model.tokens, table, model.alphabet, model.ignore_merges, model.initial_symbols).recovered_merges
    return found.exact and all(pair in model.merges for pair in found.splits.values())


def merge_pairs(model: "BPEModel") -> list[tuple[int, int]]:
    """Return the merges, as pairs of ids, in the order of their ranks.

    Raises ConversionError for a rank table that has no such list.
    """
    if not isinstance(model.merges, RankMerges):
        ranks = {rank for rank, _ in model.merges.values()}
        if len(ranks) == len(model.merges):
            return sorted(model.merges, key=lambda pair: model.merges[pair][0])
    if not model.recovered_merges.exact:
        raise ConversionError("a merge list can't hold this model: some tokens rank before their own parts")
    symbols = set() if model.initial_symbols is None else set(model.initial_symbols.symbols.values())
    splits = {token: pair for token, pair in model.recovered_merges.splits.items() if token not in symbols}
    by_rank: dict[int, list[int]] = {}
    for token_id in splits:
        by_rank.setdefault(model.recovered_merges.rank_of[token_id], []).append(token_id)
    pairs = []
    for tokens in by_rank.values():
        order = order_of_equal_ranks({token_id: splits[token_id] for token_id in tokens})
        if order is None:
            token, other = (model.tokens[each].decode("utf-8", "replace") for each in tokens[:2])
            raise ConversionError(
                f"a merge list can't hold this model: {token!r} and {other!r} have the same score, so the one further "
                "left is merged first; in a list, one of two merges always comes first"
            )
        pairs += [splits[token_id] for token_id in order]
    return pairs
