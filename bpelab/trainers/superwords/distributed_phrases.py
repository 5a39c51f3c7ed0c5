"""Phrases on a cluster: workers encode parts of a corpus, and count pairs of neighbouring tokens, or parts of phrases.

Both are counted as pre-tokens are (`distributed.py`), as strings of bytes: a pair has eight, a part three for each
token. So they are partitioned, summed and fetched in the same way, once each whatever becomes of workers.

Chapter: More than one machine. Cost: encoding twice, divided; over the network go the distinct pairs of each part of
the corpus, 24 bytes each, and its distinct parts of phrases.
"""

from __future__ import annotations

import pickle
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from ..._support.lazy_property import cached_property
from ..._support.numpy_import import np
from ...boundaries.named_patterns import Cut
from ...model.bpe import BPEModel, Pair
from ...model.trace import TrainStep
from ...native import extension
from ...pretokenizers.split import Split
from ...vocab.special_tokens import SpecialTokens
from ..counting.corpus import cut_for
from ..counting.count_table import WORD_BYTES, Counts
from ..counting.pre_token_counts import Words
from ..incremental import train_incremental
from .learner import key_of, pairs_of
from .native_phrases import NO_DROPS, TOKEN_BYTES, PairCounter, PartCounter, PhraseEncoding, learn_parts
from .python_phrases import Sequences, parts_of
from .settings import Superwords


class PhraseJob(NamedTuple):
    """How phrases are counted: the attributes of a `Job`, and two of its own.

    Attributes:
        encoding: a model, what cuts words, and the `Superwords`, pickled.
        kept: keys of the pairs between which phrases are not cut; "all"; or None to count pairs.
        cut: where texts may be cut.
    """

    encoding: bytes
    kept: bytes | str | None
    cut: Cut
    special: SpecialTokens
    normalize: Callable[[str], str] | None = None
    field: str = "text"
    buckets: int = 16
    limit: int = 1 << 28
    retries: int = 2

    def counter(self) -> Any:
        """Return what counts texts."""
        if extension() is None:
            return PythonPhraseCounter(_sequences(self.encoding), self.kept)
        return NativePhraseCounter(_encoding(self.encoding), self.kept)


@lru_cache(1)
def _encoding(pickled: bytes) -> PhraseEncoding:
    """Return the encoding in C, made once in each worker."""
    return PhraseEncoding(*pickle.loads(pickled))


@lru_cache(1)
def _sequences(pickled: bytes) -> Sequences:
    return Sequences(*pickle.loads(pickled))


class NativePhraseCounter:
    """Counts pairs or parts in C."""

    def __init__(self, encoding: PhraseEncoding, kept: bytes | str | None) -> None:
        self._counter: PairCounter | PartCounter = (
            PairCounter(encoding, NO_DROPS)
            if kept is None
            else PartCounter(encoding, None if isinstance(kept, str) else array("Q", kept))
        )
        self.feed = self._counter.feed

    @property
    def nbytes(self) -> int:
        """The bytes of what was counted so far."""
        parts = self._counter.parts.nbytes if isinstance(self._counter, PartCounter) else 0
        return parts + self._counter.counter.nbytes

    def table(self) -> Counts:
        """Return the table of what was counted."""
        if isinstance(self._counter, PartCounter):
            return Counts.from_words(self._counter.parts.words())
        keys, counts = self._counter.counter.pairs(1)
        content, numbers = np.frombuffer(keys, np.uint8), np.frombuffer(counts, np.int64)
        return Counts(content, np.arange(8, len(content) + 8, 8, dtype=np.int64), numbers)


class PythonPhraseCounter:
    """The same in Python, for workers that have no compiler."""

    def __init__(self, sequences: Sequences, kept: bytes | str | None) -> None:
        self._sequences, self._pairs, self._counts = sequences, kept is None, Counter[bytes]()
        self._kept = None if kept is None or isinstance(kept, str) else set(_as_pairs(array("Q", kept)))

    @property
    def nbytes(self) -> int:
        """The approximate bytes of what was counted so far."""
        return WORD_BYTES * len(self._counts)

    def feed(self, texts: Iterable[str]) -> None:
        """Count the pairs or parts of `texts`."""
        for sequence in self._sequences.of(texts):
            if self._pairs:
                self._counts.update(array("Q", [key_of(pair)]).tobytes() for pair in pairwise(sequence))
            else:
                self._counts.update(map(_as_bytes, parts_of(sequence, self._kept)))

    def table(self) -> Counts:
        """Return the table of what was counted."""
        return Counts.of(self._counts)


class DistributedPhrases:
    """The `Phrases` of files, counted on a cluster. `count` returns the table of a job."""

    dropped = 0

    def __init__(
        self,
        count: Callable[[PhraseJob, str], Counts],
        model: BPEModel,
        words: Split | None,
        superwords: Superwords,
        special: SpecialTokens,
        normalize: Callable[[str], str] | None,
        field: str,
    ) -> None:
        inside = (words or Split("cl100k")) if superwords.method == "boundless" else superwords.split
        self._count, self._cut = count, cut_for(superwords.split, inside)
        self._encoding = pickle.dumps((model, words, superwords))
        self._reading = special, normalize, field
        self.tokens = [model.tokens[token_id] for token_id in sorted(model.tokens)]

    def _table(self, kept: bytes | str | None, what: str) -> Counts:
        return self._count(PhraseJob(self._encoding, kept, self._cut, *self._reading), what)

    @cached_property
    def _pairs(self) -> Counts:
        return self._table(None, "pairs")

    def frequent(self, number: int) -> int:
        """Return a count that `number` pairs have."""
        counts = self._pairs.counts
        return int(np.partition(counts, -number)[-number]) if 0 < number <= len(counts) else 1

    def pairs(self, least: int) -> dict[Pair, int]:
        """Return the pairs that occur `least` times."""
        table = self._pairs
        often = np.flatnonzero(table.counts >= least)
        keys = table.content.reshape(-1, 8)[often].reshape(-1).view(np.uint64)
        return pairs_of(keys.tolist(), table.counts[often].tolist())

    def learn(
        self, kept: Collection[Pair] | None, num_merges: int, least: int, superwords: Superwords
    ) -> list[TrainStep]:
        """Return the merges learned from the parts between pairs that are not kept."""
        keys = "all" if kept is None else array("Q", map(key_of, kept)).tobytes()
        table = self._table(keys, "phrases")
        if extension() is not None:
            tables: Iterator[Words] = iter([table.words()])
            return list(learn_parts(tables, self.tokens, num_merges, least, superwords))
        parts = {_as_tokens(part): count for part, count in table.as_dict().items()}
        found = train_incremental(parts, num_merges, least, initial=self.tokens, allowed=superwords.allows)
        return list(found)


def _as_pairs(keys: Iterable[int]) -> Iterable[Pair]:
    return pairs_of(keys, keys)


def _as_bytes(part: Sequence[int]) -> bytes:
    return b"".join(token.to_bytes(TOKEN_BYTES, "little") for token in part)


def _as_tokens(part: bytes) -> tuple[int, ...]:
    numbers = range(0, len(part), TOKEN_BYTES)
    return tuple(int.from_bytes(part[at : at + TOKEN_BYTES], "little") for at in numbers)
