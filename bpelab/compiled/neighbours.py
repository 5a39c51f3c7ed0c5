"""Cuts between characters that no token has side by side, for vocabularies of characters without a pre-tokenizer.

No merge crosses such a place, so the ids of the pieces are those of the whole: `pretokenizers/implied.py` cuts before
`▁` for this reason, and here every pair of neighbours is looked up. That some pairs are taken for neighbours in a token
though they aren't costs a cut and no id, so one bit of a hash says it.

Chapter: Compiled. Cost: a look at every token, then two nanoseconds a character.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model import BPEModel
from .hashing import has_bit, set_bit, spread
from .jit import U64, expanded, kernel
from .scan import decode

BITS = 20
"""Of the number that stands for a pair in which not both are ASCII."""


class PairTable(NamedTuple):
    """Which characters are neighbours in a token: ASCII ones at 128 * left + right, others by their hash."""

    ascii: NDArray[np.uint8]
    hashed: NDArray[np.uint8]


def pair_table(model: BPEModel) -> PairTable | None:
    """The table of a model; None for one that may change the ids at such a cut.

    That are models that look up whole pieces or mark their units, that have no token for some byte, so that unknown
    characters in a row become one, and that merge the tokens of bytes.
    """
    units = model.units
    if units is None or not units.characters or units.prefix or units.suffix or units.symbols or model.take_whole:
        return None
    spelled = set((units.byte_tokens or {}).values())
    if len(units.byte_tokens or {}) < 256 or any(left in spelled or right in spelled for left, right in model.merges):
        return None
    text = "\0".join(token.decode("utf-8", "replace") for token in model.tokens.values())
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    pairs = np.unique((codes[:-1].astype(np.uint64) << U64(32)) | codes[1:])
    table = PairTable(np.zeros(128 * 128, np.uint8), np.zeros((1 << BITS) // 8, np.uint8))
    fill(pairs, table)
    return table


@expanded
def place_of(left, right):
    return np.int64(spread((U64(left) << U64(21)) | U64(right)) >> U64(64 - BITS))


@kernel
def fill(pairs, table):
    for pair in pairs:
        left, right = np.int64(pair >> U64(32)), np.int64(pair & U64(0xFFFFFFFF))
        if left < 128 and right < 128:
            table.ascii[left * 128 + right] = 1
        else:
            set_bit(table.hashed, place_of(left, right))


@expanded
def side_by_side(left, right, table):
    """Whether a token may have two characters side by side."""
    if left < 128 and right < 128:
        return table.ascii[left * 128 + right] != 0
    return has_bit(table.hashed, place_of(left, right))


@kernel
def refine_at_pairs(text, begin, ends, done, table, finer, most):
    """As `chain.refine`, by pairs, with at most `most` ends in `finer`."""
    count = 0
    while done < len(ends) and count < most:
        end = ends[done]
        if end < 0:
            finer[count] = end
            count, done, begin = count + 1, done + 1, ~end
            continue
        at, left = np.int64(begin), np.int64(-1)
        while at < end and count < most:
            right, width = np.int64(text[at]), 1
            if right >= 128:
                right, width = decode(text, at, right)
            if left >= 0 and not side_by_side(left, right, table):
                finer[count] = at
                count, begin = count + 1, at
            left, at = right, at + width
        if count < most:
            finer[count] = end
            count, done, begin = count + 1, done + 1, end
    return done, np.int64(count)
