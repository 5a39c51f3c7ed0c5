"""Phrases in C: encode texts and count adjacent pairs and parts of phrases, on all cores, in bounded memory.

The corpus is encoded twice, once for the pairs and once for the parts. Each thread has a table of pairs that drops the
rarest when it is full and remembers the highest count it dropped (`native/pair_counts.h`). That bounds the count of
any dropped pair, so the merges don't change. Parts go to files when they exceed their share of the limit, as words do.

Chapter: Superwords. Cost: for 1 GB of generated English (`bench/generated_text.py`) and 128,000 tokens, 28,000 of them
superwords, 63 s of processor time on an x86 server with two free cores, words included, 42 s by the clock, and 2.1 GB
of memory; on a busy one 83 s, 22 s for a quarter of it, 41 s for half, and 80 s and 1.4 GB with `max_memory` of 500 MB.
10 GB took 648 s of processor time, 9.9 GB of memory and 2.4 GB of files, with `max_memory` of 6 GB. Memory: the limit
for counts, plus 12 bytes for each token of the distinct parts; C takes at most 2**31 of these.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from ...core.batch import thread_count
from ...errors import TrainingError
from ...model.bpe import BPEModel
from ...model.rank_merges import Pair
from ...model.trace import TrainStep
from ...native import extension
from ...native.arrays import build_encoder
from ...native.plan import LETTER, scan_table, split_steps_for
from ...pretokenizers.split import Split
from ..counting.native import MAX_THREADS, NativeCounter, count_on_threads
from ..counting.pre_token_counts import BEYOND_64_BITS, PreTokenCounts
from ..counting.spill_runs import ThreadCounts
from ..native import MAX_BYTES, MAX_COUNT, learned_steps
from .learner import Texts, key_of, pairs_of
from .python_phrases import Sequences
from .settings import Superwords

if TYPE_CHECKING:
    from ...native._core import Encoder, PhraseCounter

BREAK = 0xFFFFFFFF
"""The separator after each sequence of tokens."""
TOKEN_BYTES = 3
NO_LIMIT = NO_DROPS = 1 << 62


class PhraseEncoding:
    """Turns texts into counted phrases in C, with an encoder and patterns; Python does what C can't.

    All threads share one; each has its own counter.
    """

    def __init__(self, model: BPEModel, words: Split | None, superwords: Superwords) -> None:
        self.sequences = Sequences(model, words, superwords)
        runs = superwords.method == "boundless"
        split = (words or Split("cl100k")) if runs else superwords.split
        tables = [scan_table(superwords.split), scan_table(Split(LETTER))] if runs else []
        levels = None if None in tables else split_steps_for(split, model)
        core = extension()
        self._tables = [table for table in tables if table is not None]
        self.encoder: Encoder | None = None
        if core is not None and levels is not None:
            self.encoder = build_encoder(model, core, levels, numbered=True)

    def counter(self, max_memory: int) -> PhraseCounter:
        """Return a counter of pairs that takes about `max_memory` bytes."""
        from ...native._core import PhraseCounter

        return PhraseCounter(self.encoder, max_memory, *(self._tables if self.encoder else []))

    def feed(self, counter: PhraseCounter, texts: list[str]) -> None:
        """Count texts; Python splits those that C can't split."""
        if left := counter.feed(texts):
            counter.add(as_array(self.sequences.of(left)))


class PairCounter:
    """Counts adjacent pairs of tokens. Each thread needs its own."""

    def __init__(self, encoding: PhraseEncoding, max_memory: int) -> None:
        self._encoding, self.counter = encoding, encoding.counter(max_memory)
        self.stop = self.counter.stop

    def feed(self, texts: list[str]) -> None:
        """Count the pairs of `texts`."""
        self._encoding.feed(self.counter, texts)

    @property
    def nbytes(self) -> int:
        """The size of the counts so far, in bytes."""
        return self.counter.nbytes

    def table(self) -> PreTokenCounts:
        """Return the counts so far as a table, with each pair as the eight bytes of its key (`key_of`)."""
        keys, counts = self.counter.pairs(1)
        return PreTokenCounts(keys, array("q", range(8, len(keys) + 8, 8)), memoryview(counts).cast("q"))


class PartCounter(PairCounter):
    """Counts the parts of phrases cut at pairs that aren't mergeable. Each thread needs its own."""

    def __init__(self, encoding: PhraseEncoding, keys: array[int] | None) -> None:
        super().__init__(encoding, 0)
        self.parts = NativeCounter(None)
        self.counter.count_parts(self.parts.counter, keys)

    @property
    def nbytes(self) -> int:
        """The size of the counts so far, in bytes."""
        return self.parts.nbytes + self.counter.nbytes

    def table(self) -> PreTokenCounts:
        """Return the counts so far as a table, with each part as three bytes per token."""
        return self.parts.table()


class NativePhrases:
    """The `Phrases` of texts, counted in C, in about `max_memory` bytes.

    `learn` raises TrainingError if there are more phrases than C can take, or if files can't be written.
    """

    def __init__(
        self, texts: Texts, model: BPEModel, words: Split | None, superwords: Superwords, max_memory: int
    ) -> None:
        self._texts, self._max_memory = texts, max_memory
        self._encoding = PhraseEncoding(model, words, superwords)
        self.tokens = self._encoding.sequences.tokens
        self._threads = min(thread_count(None), MAX_THREADS) if self._encoding.encoder else 1
        self._counter: PhraseCounter | None = None

    def _pairs(self) -> PhraseCounter:
        if self._counter is None:
            share = self._max_memory // (4 * self._threads)
            counters = count_on_threads(self._texts(), lambda: PairCounter(self._encoding, share), self._threads)
            self._counter = counters.pop().counter
            while counters:
                self._counter.add_pairs(counters.pop().counter)
        return self._counter

    @property
    def dropped(self) -> int:
        """The largest amount by which `pairs` may undercount a pair."""
        return self._pairs().dropped

    def frequent(self, number: int) -> int:
        """Return a count that at least `number` pairs reach, a power of two."""
        return self._pairs().frequent(number)

    def pairs(self, least: int) -> dict[Pair, int]:
        """Return the pairs counted at least `least` times."""
        keys, counts = self._pairs().pairs(min(least, MAX_COUNT))
        return pairs_of(memoryview(keys).cast("Q"), memoryview(counts).cast("q"))

    def learn(
        self, mergeable: Collection[Pair] | None, num_merges: int, least: int, superwords: Superwords
    ) -> list[TrainStep]:
        """Return the merges learned from the phrases, cut at pairs that aren't mergeable."""
        keys = None if mergeable is None else array("Q", map(key_of, mergeable))
        with ThreadCounts(self._max_memory, self._threads) as tables:
            counters = count_on_threads(
                self._texts(),
                lambda: PartCounter(self._encoding, keys),
                self._threads,
                lambda counter: tables.spill(counter.parts),
            )
            while counters:
                tables.take(counters.pop().parts)
            return list(learn_parts(tables.sums(), self.tokens, num_merges, least, superwords))


def learn_parts(
    tables: Iterable[PreTokenCounts], tokens: Sequence[bytes], num_merges: int, least: int, superwords: Superwords
) -> Iterator[TrainStep]:
    """Yield the merges that occur at least `least` times in counted sequences of `tokens`, three bytes per token.

    >>> table = PreTokenCounts.of({bytes([0, 0, 0, 1, 0, 0]): 3})
    >>> [step.token for step in learn_parts([table], [b" of", b" the"], 5, 2, Superwords())]
    [b' of the']

    Raises TrainingError if there are more tokens than C can take.
    """
    from ...native._core import MergeLearner

    forbidden = [text.encode() for text in superwords.forbidden]
    limits = superwords.max_words or NO_LIMIT, b"".join(forbidden), ends_of(forbidden)
    learner = MergeLearner(max(0, num_merges), min(least, MAX_COUNT), (b"".join(tokens), ends_of(tokens), *limits))
    size = 0
    for table in tables:
        size += len(table.content) // TOKEN_BYTES + len(table.ends)
        if size >= MAX_BYTES:
            raise TrainingError(
                f"the distinct phrases have more than {MAX_BYTES:,} tokens, the native trainer's limit; train on less "
                "text, or with a higher min_frequency, which cuts phrases into shorter parts"
            )
        try:
            learner.add(*table)
        except OverflowError as error:
            raise TrainingError(BEYOND_64_BITS) from error
    yield from learned_steps(learner, tokens)


def ends_of(strings: Iterable[bytes]) -> array[int]:
    """Return the end offset of each string in their concatenation."""
    return array("q", accumulate(map(len, strings)))


def as_array(sequences: Iterable[Sequence[int]]) -> array[int]:
    """Return sequences of tokens in the form C expects: concatenated, with BREAK after each."""
    return array("I", chain.from_iterable((*sequence, BREAK) for sequence in sequences))
