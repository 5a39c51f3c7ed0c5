"""Incremental training: the same merges without recounting, since a merge changes only the pairs next to it.

All pre-tokens lie end to end in one array with links to the next and the previous token. For each pair we keep its
count and the places where it was seen. To merge a pair, visit its places from left to right; at each, the pairs that
the two tokens formed with their neighbours lose one occurrence, and the pairs that the new token forms gain one. A
place is out of date if another merge took one of its tokens, so it is checked first.

The most frequent pair comes from a *lazy* heap, whose entries may be out of date too: an entry counts only if its count
is still the pair's count; otherwise it is pushed again with the true count. Counts that grow are pushed at once; counts
that shrink are noticed when their entry is popped.

Ties are broken as in `naive.py`. Chapter: Incremental training.
Cost: O(places that change), in practice a few times the size of all distinct pre-tokens for the whole training.
Source: the inverted index of Sennrich's subword-nmt (`learn_bpe.py`); the lazy heap of Hugging Face tokenizers.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush

from ..model.trace import BYTES, TrainStep

GONE = -1
"""Marks a place without a token: the token on its left absorbed it, or a pre-token ends here."""


def train_incremental(
    pre_tokens: Mapping[bytes, int] | Mapping[tuple[int, ...], int],
    num_merges: int,
    min_frequency: int = 2,
    keep_counts: bool = False,
    *,
    initial: Sequence[bytes] = BYTES,
    allowed: Callable[[bytes], bool] | None = None,
) -> Iterator[TrainStep]:
    """Yield up to `num_merges` merges, most frequent first, while some pair occurs at least `min_frequency` times.

    Training starts from bytes or from the `initial` tokens; `pre_tokens` are then sequences of indices into those.
    A pair is not merged if `allowed` refuses the token that it would become.

    >>> [step.token for step in train_incremental({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 4)]
    [b'es', b'est', b'lo', b'low']
    >>> [step.token for step in train_incremental({(0, 1, 1): 2}, 9, initial=[b"of", b" the"])]
    [b'of the', b'of the the']
    """
    ids, occurrences = array("q"), array("q")
    for pre_token, number in pre_tokens.items():
        ids.extend(pre_token)
        ids.append(GONE)
        occurrences.extend([number] * (len(pre_token) + 1))
    following = array("q", range(1, len(ids) + 1))
    previous = array("q", range(-1, len(ids) - 1))

    counts: defaultdict[tuple[int, int], int] = defaultdict(int)
    places: defaultdict[tuple[int, int], array[int]] = defaultdict(lambda: array("q"))
    for place in range(len(ids) - 1):
        if ids[place] != GONE and ids[place + 1] != GONE:
            pair = ids[place], ids[place + 1]
            counts[pair] += occurrences[place]
            places[pair].append(place)
    heap = [(-count, pair) for pair, count in counts.items() if count >= min_frequency]
    heapify(heap)
    tokens = list(initial)

    while heap and len(tokens) < len(initial) + num_merges:
        claimed, pair = heappop(heap)
        count = counts.get(pair, 0)
        if count != -claimed:
            if min_frequency <= count < -claimed:
                heappush(heap, (-count, pair))
            continue
        left, right = pair
        new, token = len(tokens), tokens[left] + tokens[right]
        if allowed is not None and not allowed(token):
            continue
        tokens.append(token)
        yield TrainStep(new - len(initial), left, right, count, token, dict(counts) if keep_counts else None)

        grown: set[tuple[int, int]] = set()
        for place in sorted(places.pop(pair)):
            other = following[place]
            if ids[place] != left or ids[other] != right:
                continue  # out of date
            weight = occurrences[place]
            before, after = previous[place], following[other]
            if before >= 0 and (neighbour := ids[before]) != GONE:
                counts[neighbour, left] -= weight
                counts[neighbour, new] += weight
                places[neighbour, new].append(before)
                grown.add((neighbour, new))
            if (neighbour := ids[after]) != GONE:
                counts[right, neighbour] -= weight
                counts[new, neighbour] += weight
                places[new, neighbour].append(place)
                grown.add((new, neighbour))
            ids[place], ids[other] = new, GONE
            following[place], previous[after] = after, place
        del counts[pair]
        for pair in grown:
            if counts[pair] >= min_frequency:
                heappush(heap, (-counts[pair], pair))
