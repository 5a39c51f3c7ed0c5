"""Training that goes on: merges learned from sequences of tokens that exist.

Two facts make it affordable for long sequences, and neither changes a merge.

- *Rare neighbours never merge.* Where two tokens are side by side, whatever is merged later on both sides of that place
  is at most as frequent as these two are. So a sequence can be cut between two tokens that are side by side fewer than
  `least` times, if no merge that is learned is rarer than that. What is left is short and repeats, and equal parts are
  counted once. The right `least` is guessed from the counts of pairs; if training ends too soon, a lower one is tried.
- *Monotone limits hold for parts.* Where limits that refuse a token refuse all that contain it, as one on the number of
  words does, a sequence can be cut between two tokens that must not be one, too.

Who counts is one of `Phrases`: `counted_sequences.py` in Python, `superwords/native_phrases.py` in C, or
`superwords/distributed_phrases.py` on a cluster.

Chapters: Superwords; New words for an old model. Cost: two passes over the sequences, then O(places that change).
Memory: the frequent pairs of tokens, and the distinct parts between rare ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from heapq import nlargest
from typing import Protocol, TypeVar

from ..model.bpe import Pair
from ..model.trace import TrainStep


class Limits(Protocol):
    """What the tokens must not be that training makes."""

    @property
    def monotone(self) -> bool:
        """Whether a token that contains a refused one is refused as well."""

    def allows(self, token: bytes) -> bool:
        """Whether a merge may make this token."""


L_contra = TypeVar("L_contra", bound=Limits, contravariant=True)


class Phrases(Protocol[L_contra]):
    """A corpus as sequences of tokens that exist, which are counted but not kept."""

    @property
    def tokens(self) -> Sequence[bytes]:
        """The bytes of the tokens; a pair is two indices in them."""

    @property
    def dropped(self) -> int:
        """How much more often than `pairs` says a pair may occur."""

    def frequent(self, number: int) -> int:
        """Return a count that at least `number` pairs of neighbours have, where there are as many; as high as it can.

        The pairs of the corpus are counted when this is first called.
        """

    def pairs(self, least: int) -> dict[Pair, int]:
        """Return the pairs of neighbours that were counted `least` times, and their counts."""

    def learn(
        self, mergeable: Collection[Pair] | None, num_merges: int, least: int, limits: L_contra
    ) -> list[TrainStep]:
        """Return the merges that occur `least` times, learned from the parts between pairs that are not `mergeable`.

        None keeps all pairs.
        """


def continue_training(
    phrases: Phrases[L_contra],
    num_merges: int,
    limits: L_contra,
    min_frequency: int = 2,
    *,
    least: int | None = None,
) -> list[TrainStep]:
    """Return the merges that `train_incremental` learns from the sequences, most frequent first.

    `least` is a count that nothing learned is below, where it is known.
    """
    if num_merges < 1:
        return []
    tokens = phrases.tokens

    def allowed(least: int) -> dict[Pair, int]:
        found = phrases.pairs(least)
        return {pair: found[pair] for pair in found if limits.allows(tokens[pair[0]] + tokens[pair[1]])}

    bound = max(least or _guess(phrases, allowed, num_merges), min_frequency)
    while True:
        mergeable: Collection[Pair] | None = None
        if phrases.dropped < bound:
            mergeable = (allowed if limits.monotone else phrases.pairs)(bound - phrases.dropped)
        steps = phrases.learn(mergeable, num_merges, bound, limits)
        if len(steps) >= num_merges or bound == min_frequency or least is not None:
            return steps
        bound = max(bound // 4, min_frequency)


def _guess(phrases: Phrases[L_contra], allowed: Callable[[int], dict[Pair, int]], num_merges: int) -> int:
    """Return a guess at the count of the last merge: half of that of the last of as many pairs as are to be merged."""
    least = phrases.frequent(num_merges)
    while len(found := allowed(least)) < num_merges and least > 1:
        least //= 2
    most = nlargest(num_merges, found.values())
    return most[-1] // 2 if len(most) == num_merges else 1
