"""Training that goes on: merges learned from sequences of tokens that exist, and a model with these merges added.

*Rare neighbours never merge.* Where two tokens are side by side, whatever is merged later on both sides of that place
is at most as frequent as these two are. So a sequence can be cut between two tokens that are side by side fewer than
`bound` times, if no merge that is learned is rarer than that. What is left is short and repeats, and equal parts are
counted once. The right bound is guessed from the counts of pairs; if training ends too soon, a lower one is tried.

Chapters: Superwords; New words for an old model. Cost: two passes over the sequences, then O(places that change).
Memory: the distinct pairs of tokens, and the distinct parts between rare ones.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain, pairwise
from types import MappingProxyType
from typing import TypeVar

from ..model.bpe import BPEModel, Merge, Pair, RankMerges
from ..model.trace import TrainStep
from .incremental import train_incremental
from .superbpe import LearnedMerge

Key = TypeVar("Key")
Sequences = Callable[[], Iterable[tuple[int, Iterable[Sequence[int]]]]]
"""Returns how often sequences occur, and those that occur so often, each time that it is called."""


def learn_on(
    sequences: Sequences,
    tokens: Sequence[bytes],
    num_merges: int,
    min_frequency: int,
    allowed: Callable[[bytes], bool],
    *,
    least: int | None = None,
) -> list[TrainStep]:
    """Return what `train_incremental` yields for the sequences, which are indices into `tokens`.

    `least` is a count that nothing learned is below, where it is known.

    >>> steps = learn_on(lambda: [(2, [[0, 1, 1]])], [b"of", b" the"], 9, 2, lambda token: True)
    >>> [step.token for step in steps]
    [b'of the', b'of the the']
    """
    pairs: Counter[Pair] = Counter()
    for times, found in sequences():
        pairs.update(_times(times, Counter(chain.from_iterable(map(pairwise, found)))))
    counts = (count for (left, right), count in pairs.items() if allowed(tokens[left] + tokens[right]))
    bound = max(least or _guess(counts, num_merges), min_frequency)
    while True:
        parts: Counter[tuple[int, ...]] = Counter()
        for times, found in sequences():
            parts.update(_times(times, Counter(part for one in found for part in _parts(one, pairs, bound))))
        steps = list(train_incremental(parts, num_merges, bound, initial=tokens, allowed=allowed))
        if len(steps) >= num_merges or bound == min_frequency or least is not None:
            return steps
        bound = max(bound // 4, min_frequency)


def _times(times: int, counts: Counter[Key]) -> Mapping[Key, int]:
    return counts if times == 1 else {key: times * count for key, count in counts.items()}


def _guess(counts: Iterable[int], num_merges: int) -> int:
    """Return a guess at the count of the last merge: half of that of as many pairs as are to be merged."""
    most = nlargest(num_merges, counts)
    return most[-1] // 2 if len(most) == num_merges and most else 1


def _parts(sequence: Sequence[int], pairs: Counter[Pair], least: int) -> Iterator[tuple[int, ...]]:
    """Yield the parts of a sequence, of two tokens and more, between neighbours that are rarer than `least`."""
    start = 0
    for end, pair in enumerate(pairwise(sequence), 1):
        if pairs[pair] < least:
            if end - start > 1:
                yield tuple(sequence[start:end])
            start = end
    if len(sequence) - start > 1:
        yield tuple(sequence[start:])


def as_list_of_merges(model: BPEModel) -> BPEModel:
    """Return the model with the one list of merges that has the ids of its ranks; itself, where it has merges."""
    if not isinstance(model.merges, RankMerges):
        return model
    merges = {pair: (rank, token) for rank, (token, pair) in enumerate(model.recovered_merges.splits.items())}
    return BPEModel(model.tokens, MappingProxyType(merges), model.alphabet, model.ignore_merges, model.units)


def append_merges(
    model: BPEModel, found: Iterable[LearnedMerge], next_id: int, characters: frozenset[bytes] = frozenset()
) -> BPEModel:
    """Return the model with more merges, which rank after all others; a token that is new has the next id.

    Tokens in `characters` are units, which no merge makes. In a table of ranks a token's merges follow from its rank.

    >>> model = append_merges(BPEModel.from_merges([(b"l", b"o")]), [LearnedMerge(b"lo", b"w", 2)], 300)
    >>> model.tokens[300], model.merges[256, ord("w")]
    (b'low', (1, 300))
    """
    tokens, ids, alphabet = dict(model.tokens), dict(model.ids), dict(model.alphabet)
    pairs: list[Pair] = []
    for left, right, _ in found:
        token = left + right
        if token not in ids:
            ids[token], tokens[next_id] = next_id, token
            next_id += 1
        if token in characters:
            alphabet[token] = ids[token]
        else:
            pairs.append((ids[left], ids[right]))
    merges: Mapping[Pair, Merge]
    if isinstance(model.merges, RankMerges):
        merges = model.merges.extended({i: token for i, token in tokens.items() if i not in model.tokens})
    else:
        table = dict(model.merges)
        rank = 1 + max((rank for rank, _ in table.values()), default=-1)
        for left_id, right_id in pairs:
            new = ids[tokens[left_id] + tokens[right_id]]
            if table.setdefault((left_id, right_id), (rank, new)) == (rank, new):
                rank += 1
        merges = MappingProxyType(table)
    return BPEModel(MappingProxyType(tokens), merges, MappingProxyType(alphabet), model.ignore_merges, model.units)
