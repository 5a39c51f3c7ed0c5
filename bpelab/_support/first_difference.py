"""The first place where two sequences of ids, characters or names differ."""

from collections.abc import Sequence


def first_difference(one: Sequence[object], other: Sequence[object]) -> int:
    """Return the first index at which two sequences differ; the shorter one's length if it's a prefix of the other.

    >>> first_difference("merge", "mercy"), first_difference([1, 2], [1, 2, 3])
    (3, 2)
    """
    pairs = enumerate(zip(one, other))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
