"""Merges by the bytes of their tokens: what trainers of several stages pass on, since indices differ between stages."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..model.trace import TrainStep


class LearnedMerge(NamedTuple):
    """Two tokens that became one, and how often they were side by side."""

    left: bytes
    right: bytes
    frequency: int


def named_merges(steps: Iterable[TrainStep], tokens: Sequence[bytes]) -> list[LearnedMerge]:
    """Return what training learned that began with `tokens`, with tokens instead of their indices.

    >>> named_merges([TrainStep(0, 0, 1, 2, b"of the")], [b"of", b" the"])
    [LearnedMerge(left=b'of', right=b' the', frequency=2)]
    """
    tokens, merges = list(tokens), list[LearnedMerge]()
    for step in steps:
        merges.append(LearnedMerge(tokens[step.left], tokens[step.right], step.count))
        tokens.append(step.token)
    return merges
