"""SuperBPE, the textbook way: byte-pair encoding twice, first within words, then across them.

The second stage cuts the text by a pattern that leaves words together. It encodes each piece with the merges of the
first stage, in their order, as the tokenizer will. So a first-stage merge may already cross the end of a word, as in
the authors' code. Then it keeps merging the most frequent pair whose token isn't too long and has no forbidden string.

Chapter: Superwords. Cost: O(size of the corpus) for each merge.
Source: Liu et al. 2025, section 2, and the authors' `do_train_extend` in their fork of tokenizers. That fork counts
words by white space and has the limits of 4 words and no ": " in its training runs (`..._mw4_colon`).
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ...model.trace import BYTES
from ...pretokenizers.split import Split
from ..learned_merge import LearnedMerge, named_merges
from ..naive import count_pairs, replace_pair, train_naive
from .settings import Superwords


class TwoStages(NamedTuple):
    """Merges of words and merges of superwords; the latter rank after all of the former."""

    words: list[LearnedMerge]
    superwords: list[LearnedMerge]


def train_superbpe(
    texts: Iterable[str], words: Split, num_merges: int, superwords: Superwords, min_frequency: int = 2
) -> TwoStages:
    """Return the merges that SuperBPE learns from `texts`, at most `num_merges` in total.

    >>> texts = ["one of the best", "some of the rest", "all of the cats"]
    >>> learned = train_superbpe(texts, Split("gpt2"), 6, Superwords(transition=260))
    >>> [merge.left + merge.right for merge in learned.superwords]
    [b' the', b' of the']
    """
    texts = list(texts)
    words_counted = Counter(piece.encode() for text in texts for piece in words.split(text))
    inside = list(train_naive(words_counted, superwords.merges_before(num_merges), min_frequency))
    stages = TwoStages(named_merges(inside, BYTES), [])

    tokens = tokens_of(stages.words)
    distinct = Counter(piece.encode() for text in texts for piece in superwords.split.split(text))
    pieces = [(encode_in_order(piece, stages.words), count) for piece, count in distinct.items()]
    for _ in range(num_merges - len(inside)):
        counts = {
            (left, right): count
            for (left, right), count in count_pairs(pieces).items()
            if superwords.allows(tokens[left] + tokens[right])
        }
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < min_frequency:
            break
        stages.superwords.append(LearnedMerge(tokens[best[0]], tokens[best[1]], counts[best]))
        tokens.append(tokens[best[0]] + tokens[best[1]])
        pieces = [(replace_pair(ids, best, len(tokens) - 1), count) for ids, count in pieces]
    return stages


def tokens_of(merges: Iterable[LearnedMerge]) -> list[bytes]:
    """Return a vocabulary's tokens in order of id: the bytes, then each new token that a merge creates."""
    return list(dict.fromkeys([*BYTES, *(merge.left + merge.right for merge in merges)]))


def encode_in_order(piece: bytes, merges: list[LearnedMerge]) -> list[int]:
    """Encode a piece by applying one merge after the other; return indices into `tokens_of(merges)`.

    >>> encode_in_order(b"low", [LearnedMerge(b"l", b"o", 2), LearnedMerge(b"lo", b"w", 2)])
    [257]
    """
    number = {token: index for index, token in enumerate(tokens_of(merges))}
    ids = list(piece)
    for left, right, _ in merges:
        ids = replace_pair(ids, (number[left], number[right]), number[left + right])
    return ids
