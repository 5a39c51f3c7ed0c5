"""Continued training: learn merges from sequences of existing tokens.

Two facts make it affordable for long sequences. Neither changes the merges.

- *Rare neighbours never merge.* A merge across the border of two adjacent tokens is at most as frequent as that pair.
  So a sequence can be cut between two tokens that are adjacent fewer than `least` times, as long as no learned merge is
  rarer than that. The remaining parts are short and repeat, and equal parts are counted once. `least` is guessed from
  the counts of pairs; if training ends too soon, a lower one is tried.
- *Monotone limits hold for parts.* If limits that refuse a token also refuse every token that contains it, as a limit
  on the number of words does, a sequence can also be cut between two tokens that they don't allow to merge.

An implementation of `Phrases` counts: `counted_sequences.py` in Python, `superwords/native_phrases.py` in C, or
`superwords/distributed_phrases.py` on a cluster.

Chapters: Superwords; New words for an old model. Cost: two passes over the sequences, then O(places that change).
Memory: the frequent pairs of tokens, and the distinct parts between rare ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from heapq import nlargest
from typing import Protocol, TypeVar

from ..model.rank_merges import Pair
from ..model.trace import TrainStep


class Limits(Protocol):
    """Limits on the tokens that training may create."""

    @property
    def monotone(self) -> bool:
        """True if every token that contains a refused one is refused too."""

    def allows(self, token: bytes) -> bool:
        """Return whether a merge may create this token."""


L_contra = TypeVar("L_contra", bound=Limits, contravariant=True)


class Phrases(Protocol[L_contra]):
    """A corpus as sequences of existing tokens, which are counted but not kept."""

    @property
    def tokens(self) -> Sequence[bytes]:
        """The bytes of each token; a pair is two indices into this sequence."""

    @property
    def dropped(self) -> int:
        """The largest amount by which `pairs` may undercount a pair."""

    def frequent(self, number: int) -> int:
        """Return a count that at least `number` pairs reach, as high as possible; 1 if there are fewer pairs.

        The first call counts the pairs of the corpus.
        """

    def pairs(self, least: int) -> dict[Pair, int]:
        """Return the adjacent pairs counted at least `least` times, and their counts."""

    def learn(
        self, mergeable: Collection[Pair] | None, num_merges: int, least: int, limits: L_contra
    ) -> list[TrainStep]:
        """Return the merges that occur at least `least` times, from sequences cut at pairs that aren't `mergeable`.

        None cuts nowhere.
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

    `least`, if known, is a lower bound on the count of every learned merge.
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
    """Return a guess at the count of the last merge: half the count of the `num_merges`-th most frequent pair."""
    least = phrases.frequent(num_merges)
    while len(found := allowed(least)) < num_merges and least > 1:
        least //= 2
    most = nlargest(num_merges, found.values())
    return most[-1] // 2 if len(most) == num_merges else 1
