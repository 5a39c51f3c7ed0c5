"""BoundlessBPE, the textbook way: merges of whole pre-tokens compete with merges inside words.

First learn all merges inside words, with their counts. Then go through them again, in order. At each step find the most
frequent pair of neighbours in which each token, given the merges so far, is a whole pre-token or a superword. If it is
more frequent than the next merge inside words, merge it; otherwise take that merge. The vocabulary is full after
`num_merges` merges, so every superword displaces the rarest merge inside words.

Decisions. Only pre-tokens with a letter take part, as in the authors' default since 2026. On equal counts the merge
inside words goes first. Runs of pre-tokens end where the superword pattern cuts. Superwords rank after all merges
inside words, as in the authors' own export to files, and texts are encoded by these merges alone. The authors' own code
also requires that the parts of a superword are whole pre-tokens, which no file format can express.

Chapter: Superwords. Cost: O(size of the corpus) for each merge.
Source: Schmidt et al. 2025; the two phases of Schmidt, Tanner and Pinter 2026, and their `train.py`, `export.py`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from ...model.trace import BYTES
from ...pretokenizers.split import Split
from ...unicode.tables import class_body, property_ranges
from ..counted_sequences import split_at_none
from ..learned_merge import LearnedMerge, named_merges
from ..naive import count_pairs, replace_pair, train_naive
from .settings import Superwords
from .superbpe import TwoStages, encode_in_order, tokens_of


def train_boundless(
    texts: Iterable[str], words: Split, num_merges: int, superwords: Superwords, min_frequency: int = 2
) -> TwoStages:
    """Return the merges that BoundlessBPE learns from `texts`, at most `num_merges` in total.

    >>> texts = ["one of the best", "some of the rest", "all of the cats"]
    >>> learned = train_boundless(texts, Split("gpt2"), 7, Superwords.of("boundless"))
    >>> [merge.left + merge.right for merge in learned.superwords]
    [b' of the']
    """
    texts = list(texts)
    counts = Counter(piece.encode() for text in texts for piece in words.split(text))
    inside = named_merges(train_naive(counts, num_merges, min_frequency), BYTES)
    tokens = tokens_of(inside)
    made_by = {merge.left + merge.right: rank for rank, merge in reversed(list(enumerate(inside)))}
    runs: list[tuple[list[int], int]] = []
    for run, count in Counter(run for text in texts for run in whole_runs(text, words, superwords.split)).items():
        runs += [(ids, count) for ids in _single_tokens(run, inside)]
    stages, first_superword = TwoStages([], []), len(tokens)
    while len(stages.words) + len(stages.superwords) < num_merges:
        taken = len(stages.words)
        pairs = {
            (left, right): count
            for (left, right), count in count_pairs(runs).items()
            if all(token >= first_superword or made_by.get(tokens[token], -1) < taken for token in (left, right))
            and superwords.allows(tokens[left] + tokens[right])
        }
        best = min(pairs, key=lambda pair: (-pairs[pair], pair), default=None)
        next_count = inside[taken].frequency if taken < len(inside) else 0
        if best is not None and pairs[best] >= max(min_frequency, next_count + 1):
            stages.superwords.append(LearnedMerge(tokens[best[0]], tokens[best[1]], pairs[best]))
            tokens.append(tokens[best[0]] + tokens[best[1]])
            runs = [(replace_pair(ids, best, len(tokens) - 1), count) for ids, count in runs]
        elif next_count:
            stages.words.append(inside[taken])
        else:
            break
    return stages


def whole_runs(text: str, words: Split, beyond: Split) -> Iterator[tuple[str, ...]]:
    """Yield runs of adjacent pre-tokens that may form superwords: each has a letter, and `beyond` cuts none.

    >>> list(whole_runs("one of 12 big, red cats", Split("gpt2"), Split("superbpe")))
    [('one', ' of'), (' big',), (' red', ' cats')]
    """
    cuts = set(accumulate(map(len, beyond.split(text)), initial=0))
    run: list[str] = []
    end = 0
    for piece in words.split(text):
        start, end = end, end + len(piece)
        inner = len(piece) > 1 and not cuts.isdisjoint(range(start + 1, end))
        if run and (start in cuts or inner or not _letter().search(piece)):
            yield tuple(run)
            run = []
        if not inner and _letter().search(piece):
            run.append(piece)
    if run:
        yield tuple(run)


def _single_tokens(run: tuple[str, ...], merges: list[LearnedMerge]) -> Iterator[list[int]]:
    """Return the parts of a run whose pre-tokens are single tokens."""
    encoded = (encode_in_order(piece.encode(), merges) for piece in run)
    return split_at_none(ids[0] if len(ids) == 1 else None for ids in encoded)


@lru_cache(1)
def _letter() -> re.Pattern[str]:
    return re.compile(f"[{class_body(property_ranges('L'))}]")
