"""Continued training, the textbook way: encode the pre-tokens with the existing merges, then keep merging.

The pre-tokens start as sequences of old tokens instead of bytes; everything else is as in `naive.py`. Of equally
frequent pairs the one with the smaller left id wins, then the one with the smaller right id. New tokens come after all
old ones. So training that is interrupted and continued on the same pre-tokens learns what it would have learned anyway.

A pair whose token already exists isn't merged. Such pairs occur only if the old merges can't produce one of their own
tokens; otherwise the pair would have been merged already.

Chapter: New words for an old model. Cost: O(size of all distinct pre-tokens) for each merge.
`editing/extending.py` does the same with `incremental.py`, for tokenizers of all kinds.
Source: Purason et al. 2025, arXiv 2512.03989.
"""

from collections.abc import Iterator, Mapping

from ..encoders.naive import NaiveEncoder
from ..model.bpe import BPEModel
from .learned_merge import LearnedMerge
from .naive import count_pairs, replace_pair


def continue_naive(
    pre_tokens: Mapping[bytes, int], model: BPEModel, num_merges: int, min_frequency: int = 2
) -> Iterator[LearnedMerge]:
    """Yield up to `num_merges` merges to append to those of a byte-level model, most frequent first.

    >>> model = BPEModel.from_merges([(b"e", b"s"), (b"es", b"t")])
    >>> learned = continue_naive({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, model, 2)
    >>> [merge.left + merge.right for merge in learned]
    [b'lo', b'low']
    """
    encoder = NaiveEncoder(model)
    sequences = [(encoder.encode_piece(pre_token), occurrences) for pre_token, occurrences in pre_tokens.items()]
    tokens = dict(model.tokens)
    first = 1 + max(tokens)
    for new in range(first, first + num_merges):
        counts = count_pairs(sequences)
        known = set(tokens.values())
        pairs = [pair for pair in counts if tokens[pair[0]] + tokens[pair[1]] not in known]
        best = min(pairs, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < min_frequency:
            return
        tokens[new] = tokens[best[0]] + tokens[best[1]]
        yield LearnedMerge(tokens[best[0]], tokens[best[1]], counts[best])
        sequences = [(replace_pair(ids, best, new), occurrences) for ids, occurrences in sequences]
