"""Training that goes on: merges learned from sequences of tokens that exist, and a model with these merges added.

Two facts make it affordable for long sequences, and neither changes a merge.

- *Rare neighbours never merge.* Where two tokens are side by side, whatever is merged later on both sides of that place
  is at most as frequent as these two are. So a sequence can be cut between two tokens that are side by side fewer than
  `least` times, if no merge that is learned is rarer than that. What is left is short and repeats, and equal parts are
  counted once. The right `least` is guessed from the counts of pairs; if training ends too soon, a lower one is tried.
- *Monotone limits hold for parts.* Where limits that refuse a token refuse all that contain it, as one on the number of
  words does, a sequence can be cut between two tokens that must not be one, too.

Who counts is one of `Phrases`: `python_phrases.py`, `native_phrases.py` or, on a cluster, `distributed_phrases.py`.

Chapters: Superwords; New words for an old model. Cost: two passes over the sequences, then O(places that change).
Memory: the frequent pairs of tokens, and the distinct parts between rare ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from types import MappingProxyType
from typing import Protocol, TypeVar

from ..model.bpe import BPEModel, Merge, Pair, RankMerges
from ..model.trace import TrainStep
from .superwords.superbpe import LearnedMerge


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

    def learn(self, kept: Collection[Pair] | None, num_merges: int, least: int, limits: L_contra) -> list[TrainStep]:
        """Return the merges that occur `least` times, learned from the parts between pairs that are not `kept`.

        None keeps all pairs.
        """


def learn_on(
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
        kept: Collection[Pair] | None = None
        if phrases.dropped < bound:
            kept = (allowed if limits.monotone else phrases.pairs)(bound - phrases.dropped)
        steps = phrases.learn(kept, num_merges, bound, limits)
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
