"""No token may stand across a cut: looked for by trying all tokens at all places."""

import random

import numpy as np
import pytest
from numba import njit

from bpelab.compiled.cuts import crossings_of, next_cut
from bpelab.compiled.jit import writable

from ..conftest import amount

pytestmark = pytest.mark.slow  # numba's kernels are compiled: half a minute

SCRIPTS = ("abcde fg", "жзийклмн", "あいうえお日本語", "ก็ขฃคฅฆ", "😀😁😂🤣", "aéжあ😀", "é\u0301ö\u0308")


@njit
def cuts_of(text, end, crossings):
    found, place = [np.int64(0)], np.int64(0)
    while place < end:
        place = next_cut(text, place, end, crossings)
        found.append(place)
    return found


def tokens_of(rng: random.Random, alphabet: str) -> list[bytes]:
    """Stretches of characters, some of them beginning and ending in the middle of one."""
    tokens = []
    for _ in range(rng.randrange(1, 30)):
        raw = "".join(rng.choices(alphabet, k=rng.randrange(1, 6))).encode()
        start = rng.randrange(min(3, len(raw))) if rng.random() < 0.4 else 0
        stop = len(raw) - rng.randrange(min(3, len(raw))) if rng.random() < 0.4 else len(raw)
        tokens.append(raw[start:stop] or raw)
    return tokens


@pytest.mark.parametrize("alphabet", SCRIPTS)
def test_nothing_stands_across_a_cut(alphabet):
    rng = random.Random(alphabet)
    made = 0
    for _ in range(amount(60, 3_000)):
        tokens = tokens_of(rng, alphabet)
        starts = np.cumsum([0, *map(len, tokens)]).astype(np.int32)
        crossings = crossings_of(writable(*tokens), starts)
        for _ in range(20):
            piece = "".join(rng.choices(alphabet, k=rng.randrange(1, 30))).encode()
            if rng.random() < 0.2:  # bytes that are no text
                piece = bytes(rng.choices(piece + b"\x80\xbf\xc3\xe3\xf0\xff", k=len(piece)))
            cuts = set(cuts_of(writable(piece), len(piece), crossings)) - {0, len(piece)}
            made += len(cuts)
            for token in tokens:
                at = piece.find(token)
                while at >= 0:
                    assert not cuts & set(range(at + 1, at + len(token))), (token, piece, cuts)
                    at = piece.find(token, at + 1)
    assert made > 100 or alphabet.isascii()
