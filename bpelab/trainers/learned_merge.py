"""Merges as bytes instead of token indices, which differ between the stages of multi-stage trainers."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..model.trace import TrainStep


class LearnedMerge(NamedTuple):
    """Two tokens that were merged, and how often they were adjacent."""

    left: bytes
    right: bytes
    frequency: int


def named_merges(steps: Iterable[TrainStep], tokens: Sequence[bytes]) -> list[LearnedMerge]:
    """Return the steps of a training that started from `tokens`, with tokens as bytes instead of indices.

    >>> named_merges([TrainStep(0, 0, 1, 2, b"of the")], [b"of", b" the"])
    [LearnedMerge(left=b'of', right=b' the', frequency=2)]
    """
    tokens, merges = list(tokens), list[LearnedMerge]()
    for step in steps:
        merges.append(LearnedMerge(tokens[step.left], tokens[step.right], step.count))
        tokens.append(step.token)
    return merges
