"""From a model to its tables: numbers by rank, merges as arrays, and the one pair that each token is made of.

Chapter: Compiled. Cost: a quarter of a second for 100,000 tokens.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model import BPEModel, RankMerges
from .backtracking import compatible
from .cuts import crossings_of
from .jit import U64, kernel, writable
from .tables import (
    BITS,
    EMPTY,
    NONE,
    SHORT,
    ModelTables,
    fill_byte_pairs,
    fill_pairs,
    fill_tokens,
    find_token,
    power_of_two,
    put_pair,
)
from .trie import build_trie
from .units import served, stand_in, with_units

MOST_TOKENS, MOST_MERGES, LARGEST_ID = 1 << BITS, 1 << 22, 1 << 28


class Merges(NamedTuple):
    """Pairs of tokens, by number, in the order of their ranks; `merges` says which merge each is, `made` what of."""

    lefts: NDArray[np.int32]
    rights: NDArray[np.int32]
    merges: NDArray[np.int32]
    made: NDArray[np.uint32]


@kernel
def list_cuts(tables, first, lefts, rights, merges):
    """All ways in which the tokens from number `first` on are two tokens; how many. A merge has its token's number."""
    count = 0
    for token in range(first, len(tables.starts) - 1):
        start, end = np.int64(tables.starts[token]), np.int64(tables.starts[token + 1])
        for cut in range(start + 1, end):
            left = find_token(tables.content, start, cut, tables)
            if left == NONE:
                continue
            right = find_token(tables.content, cut, end, tables)
            if right != NONE:
                if count < len(lefts):
                    lefts[count], rights[count], merges[count] = left, right, token
                count += 1
    return count


@kernel
def find_halves(lefts, rights, merges, tables, known):
    """Fill `halves` and `pairs` of the tables as `recover.recover_merges` does; whether that is all that merging needs.

    `known` says of each token whether merging makes it.
    """
    exact, at = True, 0
    while at < len(merges):
        token = np.int64(tables.made[merges[at]])
        late, found = False, False
        while at < len(merges) and np.int64(tables.made[merges[at]]) == token:
            left, right = np.int64(lefts[at]), np.int64(rights[at])
            if not found:
                if not (known[left] and known[right]):
                    late = True
                elif compatible(left, right, tables):
                    found = known[token] = True
                    tables.halves[token, 0], tables.halves[token, 1] = left, right
                    put_pair(tables.pairs, tables.pair_shift, lefts[at], rights[at], merges[at])
            at += 1
        if late and not found:
            exact = False
    return exact


def model_tables(model: BPEModel) -> ModelTables | None:
    """The tables of a model; None for one whose units need more than `units.py` does, or that is too large.

    >>> tables = model_tables(BPEModel.from_merges([(b"l", b"o"), (b"lo", b"w")]))
    >>> tables.halves[257].tolist(), bytes(tables.content[tables.starts[257] : tables.starts[258]])
    ([256, 119], b'low')
    """
    tokens, in_bytes = model.tokens, model.bytewise
    others = [] if in_bytes else stand_in(model)
    if len(tokens) + len(others) > MOST_TOKENS or max([*tokens, *others]) >= LARGEST_ID:
        return None
    if not in_bytes and not served(model.units):  # type: ignore[arg-type]
        return None
    by_rank = in_bytes and isinstance(model.merges, RankMerges) and model.merges.plain
    order = _order(model, by_rank)
    contents = [tokens[token_id] for token_id in order]
    starts = np.zeros(len(order) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, contents), np.int32, len(contents)), out=starts[1:])
    short_tokens = int((np.diff(starts) <= SHORT).sum())
    tables = ModelTables(
        ids=np.array(order + others, np.uint32),
        same_ids=order + others == list(range(len(order + others))),
        content=writable(*contents),
        starts=starts,
        byte_tokens=np.full(256, NONE, np.uint32),
        byte_pairs=np.empty(65536 * in_bytes, np.uint32),
        pairs=np.empty(0, np.uint64),
        pair_shift=U64(0),
        made=np.arange(len(order), dtype=np.uint32),
        same_made=True,
        whole=model.take_whole,
        short=np.zeros((power_of_two(2 * short_tokens), 3), np.uint64),
        long=np.full(power_of_two(2 * (len(order) - short_tokens)), NONE, np.uint32),
        halves=np.repeat(np.arange(len(order), dtype=np.int32), 2).reshape(-1, 2),
        trie=np.empty((0, 4), np.int32),
        shorter=np.empty(0, np.int32),
        crossings=np.empty(0, np.uint8),
        unit_index=np.empty(0, np.uint16),
        unit_tokens=np.empty(0, np.uint32),
        characters=False,
        unknown=NONE,
        fuse=False,
    )
    fill_tokens(tables.content, starts, tables.short, tables.long)
    first = len(model.alphabet)
    merges = _cuts(tables, first) if by_rank else _given(model, order)
    if merges is None:
        return None
    pairs, shift = _pair_table(len(order))
    same_made = bool((merges.made == np.arange(len(merges.made))).all())
    tables = tables._replace(made=merges.made, same_made=same_made, pairs=pairs, pair_shift=shift)
    known = np.zeros(len(order), np.bool_)
    known[:first] = True
    joined = model.units is None or not (model.units.prefix or model.units.suffix)  # a token is its parts, side by side
    ways = len(np.unique(merges.merges)) == len(np.unique(merges.made[merges.merges]))
    if joined and ways and find_halves(*merges[:3], tables, known):
        trie, shorter = build_trie(tables.content, starts, np.flatnonzero(known).astype(np.int32), contents)
        tables = tables._replace(trie=trie, shorter=shorter)
    else:
        pairs, shift = _pair_table(len(merges.lefts))
        tables = tables._replace(pairs=pairs, pair_shift=shift)
        fill_pairs(merges.lefts, merges.rights, merges.merges, tables.pairs, tables.pair_shift)
    number = {token_id: place for place, token_id in enumerate(order + others)}
    if not in_bytes:
        return with_units(model, tables, number)
    if not model.take_whole or (len(tables.trie) and known.all()):
        tables = tables._replace(crossings=crossings_of(tables.content, starts))
    tables.byte_tokens[:] = [number[token_id] for token_id in model.byte_ids]
    fill_byte_pairs(tables.byte_tokens, tables.pairs, tables.pair_shift, tables.byte_pairs)
    return tables


def _order(model: BPEModel, by_rank: bool) -> list[int]:
    """The ids in the order of their numbers: the alphabet, then by rank, then what no merge makes."""
    alphabet = sorted(model.alphabet.values())
    if by_rank:
        letters = set(alphabet)
        return alphabet + [token_id for token_id in sorted(model.tokens) if token_id not in letters]
    made = [new for _, new in sorted(set(model.merges.values()))]
    return list(dict.fromkeys([*alphabet, *made, *model.tokens]))


def _pair_table(merges: int) -> tuple[NDArray[np.uint64], np.uint64]:
    size = power_of_two(2 * merges)
    return np.full(size, EMPTY, np.uint64), U64(64 - (size.bit_length() - 1))


def _cuts(tables: ModelTables, first: int) -> Merges:
    """The merges of a rank table: all ways in which a token is two tokens."""
    room = 4 * len(tables.ids)
    while True:
        lefts, rights, merges = (np.empty(room, np.int32) for _ in range(3))
        count = list_cuts(tables, first, lefts, rights, merges)
        if count <= room:
            return Merges(lefts[:count], rights[:count], merges[:count], tables.made)
        room = count


def _given(model: BPEModel, order: list[int]) -> Merges | None:
    """The merges that a model lists."""
    pairs = np.array(list(model.merges), np.int64).reshape(-1, 2)
    ranks = np.array(list(model.merges.values()), np.int64).reshape(-1, 2)
    if len(pairs) >= MOST_MERGES:
        return None
    ids = np.array(order, np.int64)
    by_id = np.argsort(ids, kind="stable")
    numbers = by_id[np.searchsorted(ids[by_id], np.column_stack([pairs, ranks[:, 1:]]))].astype(np.int32)
    in_order = np.argsort(ranks[:, 0], kind="stable")
    ranks_there, merges = np.unique(ranks[in_order, 0], return_inverse=True)
    made = np.zeros(len(ranks_there), np.uint32)
    made[merges] = numbers[in_order, 2]
    if (made[merges] != numbers[in_order, 2]).any():  # one rank for two tokens
        return None
    first = len(model.alphabet)
    if (made == np.arange(first, first + len(made))).all():  # as mostly: then a merge may have its token's number
        merges, made = merges + first, np.arange(first + len(made), dtype=np.uint32)
    return Merges(numbers[in_order, 0], numbers[in_order, 1], merges.astype(np.int32), made)
