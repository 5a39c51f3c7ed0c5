"""A long piece to tokens by exact backtracking: the longest token that fits, and one step back where BPE cut otherwise.

Chapter: A trie, and exact backtracking; this is `encoders/trie.py` in arrays. Cost: linear; two or three look-ups a
token on text.
"""

import numpy as np

from .jit import kernel
from .tables import NONE, find_pair
from .trie import longest_token


@kernel
def compatible(left, right, tables):
    """Whether merging the bytes of two tokens, side by side, ends with these two: see `recover.compatible`.

    Tokens are numbered by rank, the alphabet, which is made of nothing, first.
    """
    limit = np.int64(1) << 40
    while True:
        merge = find_pair(tables.pairs, tables.pair_shift, np.uint32(left), np.uint32(right))
        if merge != NONE and np.int64(tables.made[merge]) < limit:
            return False
        if left > right:
            half = np.int64(tables.halves[left, 1])
            if half == left:
                return True
            limit, left = left, half
        else:
            half = np.int64(tables.halves[right, 0])
            if half == right:
                return True
            limit, right = right + 1, half


@kernel
def by_backtracking(text, start, end, out, at, tables):
    """Tokens of text[start:end] into `out` from `at` on; where they end, or -1 if that takes too long."""
    begin, starts = at, tables.starts
    dead = np.zeros(end - start + 1, np.uint8)
    place, furthest, patience = start, start, np.int64(1000)
    token = longest_token(tables.trie, text, place, end)
    while token >= 0:
        patience -= 1
        if patience < 0:
            return np.int64(-1)
        stop = place + starts[token + 1] - starts[token]
        if dead[stop - start] == 0 and (at == begin or compatible(np.int64(out[at - 1]), token, tables)):
            out[at] = token
            at += 1
            place = stop
            if place > furthest:  # every byte that is gained may cost three tries
                furthest, patience = place, patience + 3 * (place - furthest)
            token = longest_token(tables.trie, text, place, end) if place < end else np.int64(-1)
            continue
        shorter = np.int64(tables.shorter[token])
        while shorter < 0:  # nothing fits here: the token before was wrong
            dead[place - start] = 1
            at -= 1
            token = np.int64(out[at])
            place -= starts[token + 1] - starts[token]
            shorter = np.int64(tables.shorter[token])
        token = shorter
    return at
