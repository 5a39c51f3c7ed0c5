"""Superwords, learned incrementally: the merges of the textbooks, `superbpe.py` and `boundless.py`, for long texts.

Three facts make the second stage affordable, and none changes a merge.

- *Rare neighbours never merge.* Where two tokens are side by side, whatever is merged later on both sides of that place
  is at most as frequent as these two are. So a text can be cut between two tokens that are side by side fewer than
  `least` times, if no merge that is learned is rarer than that. What is left repeats, and equal parts are counted
  once. The right `least` is guessed from the counts of pairs; if training ends too soon, a lower one is tried.
- *Limits hold for parts.* What contains two tokens that must not be one has too many words itself, or the forbidden
  string; so a text can be cut between these, too.
- *Counts fall.* Merges inside words are learned in the order of their counts, and so are superwords. A pre-token is one
  token before its merge is rarer than any pair that it is in. So the competition of BoundlessBPE is that of two sorted
  lists, each learned by itself.

Who counts is one of `Phrases`: `python_phrases.py`, `native_phrases.py` or, on a cluster, `distributed_phrases.py`.

Chapter: Superwords. Cost: encoding the corpus twice, then O(places that change). Memory: the frequent pairs of tokens,
and the distinct parts between rare ones.
Source: counting candidates by frequency is from Tanner, Schmidt and Pinter 2026; their greedy split is approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import chain
from typing import Protocol

from ..model.trace import TrainStep
from .superbpe import LearnedMerge, TwoStages, named_merges
from .superwords import Superwords

Pair = tuple[int, int]
Texts = Callable[[], Iterable[str]]
"""Returns the texts of a corpus, document by document, each time that it is called."""


class Phrases(Protocol):
    """A corpus as sequences of the tokens of its first stage, which are counted but not kept."""

    @property
    def tokens(self) -> Sequence[bytes]:
        """The bytes of the tokens; a pair is two indices in them."""

    @property
    def dropped(self) -> int:
        """How much more often than `pairs` says a pair may occur."""

    def frequent(self, number: int) -> int:
        """Return a count that at least `number` pairs of neighbours have, if there are so many; the higher the better.

        The pairs of the corpus are counted when this is first called.
        """

    def pairs(self, least: int) -> dict[Pair, int]:
        """Return the pairs of neighbours that were counted `least` times, and their counts."""

    def learn(
        self, kept: Collection[Pair] | None, num_merges: int, least: int, superwords: Superwords
    ) -> list[TrainStep]:
        """Return the merges that occur `least` times, learned from the parts between pairs that are not `kept`.

        None keeps all pairs.
        """


def learn_superwords(
    phrases: Phrases, num_merges: int, superwords: Superwords, min_frequency: int = 2, *, least: int | None = None
) -> Iterator[LearnedMerge]:
    """Yield the superwords to add to a model of words, most frequent first, no more than `num_merges`.

    `least` is a count that nothing learned is below, where it is known.

    >>> from bpelab import BPEModel
    >>> from bpelab.trainers.python_phrases import PythonPhrases
    >>> model = BPEModel.from_merges([(b" ", b"o"), (b" o", b"f"), (b" ", b"t")])
    >>> phrases = PythonPhrases(lambda: ["all of them, most of that"], model, None, Superwords())
    >>> [merge.left + merge.right for merge in learn_superwords(phrases, 2, Superwords())]
    [b' of t', b' of th']
    """
    if num_merges < 1:
        return
    tokens = phrases.tokens

    def allowed(least: int) -> dict[Pair, int]:
        found = phrases.pairs(least)
        return {pair: found[pair] for pair in found if superwords.allows(tokens[pair[0]] + tokens[pair[1]])}

    bound = max(least or _guess(phrases, allowed, num_merges), min_frequency)
    while True:
        kept = None if phrases.dropped >= bound else allowed(bound - phrases.dropped)
        steps = phrases.learn(kept, num_merges, bound, superwords)
        if len(steps) >= num_merges or bound == min_frequency or least is not None:
            break
        bound = max(bound // 4, min_frequency)
    yield from named_merges(steps, tokens)


def _guess(phrases: Phrases, allowed: Callable[[int], dict[Pair, int]], num_merges: int) -> int:
    """Return a guess at the count of the last merge: half of that of the last of as many pairs as are to be merged."""
    least = phrases.frequent(num_merges)
    while len(found := allowed(least)) < num_merges and least > 1:
        least //= 2
    most = nlargest(num_merges, found.values())
    return most[-1] // 2 if len(most) == num_merges else 1


def compete(words: list[LearnedMerge], beyond: Iterable[LearnedMerge], num_merges: int) -> TwoStages:
    """Return the most frequent merges of both lists; of equal counts those of words go first.

    >>> words = [LearnedMerge(b"a", b"b", 9), LearnedMerge(b"ab", b"c", 3)]
    >>> compete(words, [LearnedMerge(b"x", b" y", 3), LearnedMerge(b"x y", b" z", 2)], 3)[1][0].left
    b'x'
    """
    stages = TwoStages([], [])
    left = iter(words)
    word = next(left, None)
    for merge in chain(beyond, [None]):
        while word is not None and len(stages.words) + len(stages.superwords) < num_merges:
            if merge is not None and merge.frequency > word.frequency:
                break
            stages.words.append(word)
            word = next(left, None)
        if merge is None or len(stages.words) + len(stages.superwords) >= num_merges:
            break
        stages.superwords.append(merge)
    return stages


def key_of(pair: Pair) -> int:
    """Return a pair as C and count tables have it."""
    return pair[0] + 1 << 32 | pair[1] + 1


def pairs_of(keys: Iterable[int], counts: Iterable[int]) -> dict[Pair, int]:
    """Return pairs and their counts.

    >>> pairs_of([key_of((5, 0))], [3])
    {(5, 0): 3}
    """
    return {((key >> 32) - 1, (key & 0xFFFFFFFF) - 1): count for key, count in zip(keys, counts)}
