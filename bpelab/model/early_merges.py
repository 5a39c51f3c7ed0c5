"""Early merges: find the pairs of tokens that rank before their own parts, by merging each token alone.

Any two neighbours of a rank table whose joined bytes are a token may merge, so a token can have many pairs: Gemma's
236,245 tokens of several characters have 513,511. But at most one of a token's pairs is ever used. Take a token that
merging makes in some text, and the symbols that it's made of. Until it's made, no merge crosses an end of this stretch.
Each merge inside is the first of all that are possible, by rank and then from left to right, so it's the first of those
inside, too. So the stretch merges as if it stood alone. Each merge leaves one token fewer: at one moment two are left,
and these are the pair. This holds for any ranks, also if a part ranks after the token: "▁SSSR" of Gemma ranks before
its part "SSR", so "▁S" and "SSR" wait until "SSR" is made, and then merge at once.

A list that has this one pair for each token, in the order of ranks, merges every text as the table does: each pair that
the table takes is in the list, and the list has no other pairs that could come first. If several tokens share a rank,
more is needed (`equal_ranks.py`).

`recover_merges` finds the pairs in the order of ranks, each from those of its parts. It misses the early ones, and may
be wrong about tokens whose bytes contain an early token's. In all others no early merge happens, so they are right.

Chapter: A trie. Cost: a look at every token, and the square of the length of each that contains an early one.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from .initial_symbols import token_initial_symbols

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .bpe import BPEModel
    from .rank_merges import Pair


def add_early_merges(model: BPEModel, candidates: Iterable[int], splits: dict[int, Pair], ranks: dict[int, int]) -> int:
    """Correct the pairs and ranks of tokens, id -> pair and id -> rank, by the early ones; return how many these are.

    `candidates` are ids of tokens without a pair, with all that only early merges make. If there are any, both are put
    into the order of ranks.

    >>> from bpelab.model import BPEModel
    >>> vocab = {bytes([b]): b for b in range(256)} | {b"abc": 256, b"bc": 257}
    >>> splits, ranks = {257: (98, 99)}, {257: 257}
    >>> add_early_merges(BPEModel.from_ranks(vocab), [256], splits, ranks), splits
    (1, {256: (97, 257), 257: (98, 99)})
    """
    tokens, merges = model.tokens, model.merges
    prefix = b"" if model.initial_symbols is None else model.initial_symbols.prefix
    early = {tokens[new].removeprefix(prefix) for new in candidates if last_pair(model, new) is not None}
    if not early:
        return 0
    sizes = set(map(len, early))
    for token_id, token in tokens.items():
        if not any(token[at : at + size] in early for size in sizes for at in range(len(token) - size + 1)):
            continue
        pair = last_pair(model, token_id)
        if pair is None:
            splits.pop(token_id, None)
            ranks.pop(token_id, None)
        else:
            splits[token_id], ranks[token_id] = pair, merges[pair][0]
    in_order = sorted(splits, key=lambda token: (ranks[token], len(tokens[token]), token))
    rows = [(token, splits[token], ranks[token]) for token in in_order]
    splits.clear()
    ranks.clear()
    for new, pair, rank in rows:
        splits[new], ranks[new] = pair, rank
    return len(early)


def last_pair(model: BPEModel, token_id: int) -> Pair | None:
    """Return the two tokens that a token is merged from, found by merging its symbols; None if they don't become it.

    >>> from bpelab.model import BPEModel
    >>> last_pair(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]), 257)
    (256, 119)
    """
    pair = last_two(model, token_id)
    merge = None if pair is None else model.merges.get(pair)
    return pair if merge is not None and merge[1] == token_id else None


def last_two(model: BPEModel, token_id: int) -> Pair | None:
    """Return the tokens that a token's symbols are when merging leaves two of them; None if it leaves more."""
    find = model.merges.get
    ids = token_initial_symbols(model, model.tokens[token_id])
    ranks = [_rank(find((left, right))) for left, right in zip(ids, ids[1:])]
    while len(ids) > 2 and (rank := min(ranks)) < inf:
        at = ranks.index(rank)
        ids[at : at + 2] = [find((ids[at], ids[at + 1]))[1]]  # type: ignore[index]
        del ranks[at]
        for near in range(max(0, at - 1), min(at + 1, len(ranks))):
            ranks[near] = _rank(find((ids[near], ids[near + 1])))
    return (ids[0], ids[1]) if len(ids) == 2 else None


def _rank(merge: tuple[int, int] | None) -> float:
    return inf if merge is None else merge[0]
