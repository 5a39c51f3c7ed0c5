"""Phrases on a cluster: workers encode parts of a corpus and count adjacent pairs of tokens, or parts of phrases.

Both are counted like pre-tokens (`distributed.py`), as byte strings: eight bytes for a pair, three for each token of a
part. So they are partitioned, summed and fetched the same way, each exactly once even if workers are lost.

Chapter: More than one machine. Cost: encoding twice, divided among workers; over the network go the distinct pairs of
each part of the corpus, 24 bytes each, and its distinct parts of phrases.
"""

from __future__ import annotations

import pickle
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from ..._support.lazy_property import cached_property
from ..._support.numpy_import import np
from ...boundaries.named_patterns import BoundaryKind
from ...model.bpe import BPEModel
from ...model.rank_merges import Pair
from ...model.trace import TrainStep
from ...native import extension
from ...pretokenizers.split import Split
from ..counted_sequences import split_at_rare_pairs
from ..counting.corpus import boundary_kind_for
from ..counting.counters import PRE_TOKEN_BYTES, PreTokenCounter
from ..counting.distributed import Job
from ..counting.pre_token_counts import PreTokenCounts
from ..incremental import train_incremental
from .learner import key_of, pairs_of
from .native_phrases import NO_DROPS, TOKEN_BYTES, PairCounter, PartCounter, PhraseEncoding, learn_parts
from .python_phrases import Sequences
from .settings import Superwords


@dataclass(frozen=True)
class PhraseJob(Job):
    """How to count phrases: a `Job` whose `split` cuts words.

    Attributes:
        encoding: a model, the split that cuts words, and the `Superwords`, pickled.
        mergeable: keys of the pairs at which phrases aren't cut; "all"; or None to count pairs.
        boundary_kind: where texts may be cut.
    """

    encoding: bytes = b""
    mergeable: bytes | str | None = None
    boundary_kind: BoundaryKind = BoundaryKind.PHRASES

    def counter(self) -> PreTokenCounter:
        """Return a new counter of pairs or parts."""
        if extension() is None:
            return PythonPhraseCounter(_sequences(self.encoding), self.mergeable)
        encoding = _encoding(self.encoding)
        if self.mergeable is None:
            return PairCounter(encoding, NO_DROPS)
        return PartCounter(encoding, None if isinstance(self.mergeable, str) else array("Q", self.mergeable))


@lru_cache(1)
def _encoding(pickled: bytes) -> PhraseEncoding:
    """Return the encoding in C, built once per worker."""
    return PhraseEncoding(*pickle.loads(pickled))


@lru_cache(1)
def _sequences(pickled: bytes) -> Sequences:
    return Sequences(*pickle.loads(pickled))


class PythonPhraseCounter:
    """Counts pairs or parts in Python, for workers without the extension."""

    def __init__(self, sequences: Sequences, mergeable: bytes | str | None) -> None:
        self._sequences, self._pairs, self._counts = sequences, mergeable is None, Counter[bytes]()
        keys = array("Q", mergeable) if isinstance(mergeable, bytes) else None
        self._mergeable = None if keys is None else pairs_of(keys, keys)

    @property
    def nbytes(self) -> int:
        """The approximate size of the counts so far, in bytes."""
        return PRE_TOKEN_BYTES * len(self._counts)

    def feed(self, texts: Iterable[str]) -> None:
        """Count the pairs or parts of `texts`."""
        for sequence in self._sequences.of(texts):
            if self._pairs:
                self._counts.update(array("Q", [key_of(pair)]).tobytes() for pair in pairwise(sequence))
            else:
                self._counts.update(map(_as_bytes, split_at_rare_pairs(sequence, self._mergeable)))

    def table(self) -> PreTokenCounts:
        """Return the counts so far as a table."""
        return PreTokenCounts.of(self._counts)


class DistributedPhrases:
    """The `Phrases` of the corpus that `job` reads, counted on a cluster. `count` returns the table of a job."""

    dropped = 0

    def __init__(
        self,
        count: Callable[[PhraseJob, str], PreTokenCounts],
        job: Job,
        model: BPEModel,
        superwords: Superwords,
    ) -> None:
        inside = (job.split or Split("cl100k")) if superwords.method == "boundless" else superwords.split
        encoding, kind = pickle.dumps((model, job.split, superwords)), boundary_kind_for(superwords.split, inside)
        self._count, self._job = count, PhraseJob(**vars(job), encoding=encoding, boundary_kind=kind)
        self.tokens = [model.tokens[token_id] for token_id in sorted(model.tokens)]

    def _table(self, mergeable: bytes | str | None, what: str) -> PreTokenCounts:
        return self._count(replace(self._job, mergeable=mergeable), what)

    @cached_property
    def _pairs(self) -> PreTokenCounts:
        return self._table(None, "pairs")

    def frequent(self, number: int) -> int:
        """Return a count that at least `number` pairs reach."""
        counts = np.frombuffer(self._pairs.counts, np.int64)
        return int(np.partition(counts, -number)[-number]) if 0 < number <= len(counts) else 1

    def pairs(self, least: int) -> dict[Pair, int]:
        """Return the pairs that occur at least `least` times."""
        keys, counts = np.frombuffer(self._pairs.content, np.uint64), np.frombuffer(self._pairs.counts, np.int64)
        often = counts >= least
        return pairs_of(keys[often].tolist(), counts[often].tolist())

    def learn(
        self, mergeable: Collection[Pair] | None, num_merges: int, least: int, superwords: Superwords
    ) -> list[TrainStep]:
        """Return the merges learned from the phrases, cut at pairs that aren't mergeable."""
        keys = "all" if mergeable is None else array("Q", map(key_of, mergeable)).tobytes()
        table = self._table(keys, "phrases")
        if extension() is not None:
            return list(learn_parts([table], self.tokens, num_merges, least, superwords))
        parts = {_as_tokens(part): count for part, count in table.as_dict().items()}
        found = train_incremental(parts, num_merges, least, initial=self.tokens, allowed=superwords.allows)
        return list(found)


def _as_bytes(part: Sequence[int]) -> bytes:
    return b"".join(token.to_bytes(TOKEN_BYTES, "little") for token in part)


def _as_tokens(part: bytes) -> tuple[int, ...]:
    numbers = range(0, len(part), TOKEN_BYTES)
    return tuple(int.from_bytes(part[at : at + TOKEN_BYTES], "little") for at in numbers)
