"""Naive training, the textbook way: count every pair of neighbours, merge the most frequent one, count again.

Pre-tokens are counted once and then processed with their counts, so the text itself is read only once.

Every trainer of this library breaks ties the same way: of equally frequent pairs the one with the smaller left token
wins, then the one with the smaller right token. Tokens are numbered 0 to 255 for the bytes, then in the order in which
they were learned. The order depends only on the counts.

In a run such as `aaa` the pair (a, a) is counted at each of its two positions, though only one can merge, as in
subword-nmt, minbpe and Hugging Face.

Chapter: Training. Cost: O(size of all distinct pre-tokens) for each merge.
Source: Gage 1994; Sennrich, Haddow and Birch 2016; minbpe.
"""

from collections.abc import Iterator, Mapping

from ..model.trace import TrainStep


def count_pairs(pre_tokens: list[tuple[list[int], int]]) -> dict[tuple[int, int], int]:
    """Count each pair of neighbours in `pre_tokens`, which are (token ids, how often the pre-token occurs).

    >>> count_pairs([([1, 2, 1, 2], 10)])
    {(1, 2): 20, (2, 1): 10}
    """
    counts: dict[tuple[int, int], int] = {}
    for ids, occurrences in pre_tokens:
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + occurrences
    return counts


def replace_pair(ids: list[int], pair: tuple[int, int], new: int) -> list[int]:
    """Return `ids` with `new` in place of each `pair`, from left to right without overlaps.

    >>> replace_pair([1, 1, 1, 2], (1, 1), 256)
    [256, 1, 2]
    """
    out: list[int] = []
    position = 0
    while position < len(ids):
        if tuple(ids[position : position + 2]) == pair:
            out.append(new)
            position += 2
        else:
            out.append(ids[position])
            position += 1
    return out


def train_naive(
    pre_tokens: Mapping[bytes, int], num_merges: int, min_frequency: int = 2, keep_counts: bool = False
) -> Iterator[TrainStep]:
    """Yield up to `num_merges` merges, most frequent first, while some pair occurs at least `min_frequency` times.

    >>> [step.token for step in train_naive({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 4)]
    [b'es', b'est', b'lo', b'low']
    """
    sequences = [(list(pre_token), occurrences) for pre_token, occurrences in pre_tokens.items()]
    tokens = [bytes([byte]) for byte in range(256)]
    for rank in range(num_merges):
        counts = count_pairs(sequences)
        if not counts:
            return
        pair = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[pair] < min_frequency:
            return
        tokens.append(tokens[pair[0]] + tokens[pair[1]])
        yield TrainStep(rank, *pair, counts[pair], tokens[-1], counts if keep_counts else None)
        sequences = [(replace_pair(ids, pair, 256 + rank), occurrences) for ids, occurrences in sequences]
