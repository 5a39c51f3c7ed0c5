"""Superwords, learned incrementally: the same merges as the textbook `superbpe.py` and `boundless.py`, for long texts.

- The second stage is continued training (`continue_training.py`) on text that is cut less often.
- *Counts fall.* Merges inside words are learned in descending order of count, and so are superwords. A pre-token is at
  least as frequent as any pair it is in, so it is a single token in time. So BoundlessBPE's competition is a merge of
  two sorted lists, each learned separately.

Chapter: Superwords. Cost: encoding the corpus twice, then O(places that change). Memory: the frequent pairs of tokens,
and the distinct parts between rare ones.
Source: counting candidates by frequency is from Schmidt, Tanner and Pinter 2026; their greedy split is approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from ...model.rank_merges import Pair
from ..continue_training import Phrases, continue_training
from ..learned_merge import LearnedMerge, named_merges
from .settings import Superwords
from .superbpe import TwoStages

Texts = Callable[[], Iterable[str]]
"""A function that returns the texts of a corpus, document by document; it may be called several times."""


def learn_superwords(
    phrases: Phrases[Superwords],
    num_merges: int,
    superwords: Superwords,
    min_frequency: int = 2,
    *,
    least: int | None = None,
) -> Iterator[LearnedMerge]:
    """Yield up to `num_merges` superwords to add to a model of words, most frequent first.

    `least`, if known, is a lower bound on the count of every learned merge.

    >>> from bpelab import BPEModel
    >>> from bpelab.trainers.superwords.python_phrases import PythonPhrases
    >>> model = BPEModel.from_merges([(b" ", b"o"), (b" o", b"f"), (b" ", b"t")])
    >>> phrases = PythonPhrases(lambda: ["all of them, most of that"], model, None, Superwords())
    >>> [merge.left + merge.right for merge in learn_superwords(phrases, 2, Superwords())]
    [b' of t', b' of th']
    """
    steps = continue_training(phrases, num_merges, superwords, min_frequency, least=least)
    yield from named_merges(steps, phrases.tokens)


def merge_by_frequency(words: list[LearnedMerge], beyond: Iterable[LearnedMerge], num_merges: int) -> TwoStages:
    """Return the most frequent merges of both lists; on equal counts, those of words go first.

    >>> words = [LearnedMerge(b"a", b"b", 9), LearnedMerge(b"ab", b"c", 3)]
    >>> merge_by_frequency(words, [LearnedMerge(b"x", b" y", 3), LearnedMerge(b"x y", b" z", 2)], 3)[1][0].left
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
    """Return a pair as the integer that C and count tables use."""
    return pair[0] + 1 << 32 | pair[1] + 1


def pairs_of(keys: Iterable[int], counts: Iterable[int]) -> dict[Pair, int]:
    """Return a dict from pairs to counts, given the pairs' keys.

    >>> pairs_of([key_of((5, 0))], [3])
    {(5, 0): 3}
    """
    return {((key >> 32) - 1, (key & 0xFFFFFFFF) - 1): count for key, count in zip(keys, counts)}
