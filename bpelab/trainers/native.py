"""Native training: the extension in C counts words and learns merges, the same ones in the same order.

`count.h` and `learn.h` in `bpelab/native` do what `corpus.py` and `incremental.py` do. Several threads count texts,
each in a table of its own, since the extension releases the interpreter's lock; the counts don't depend on which.

Chapter: Incremental training. Cost: 0.2 s of CPU time for 10 MB of English and 8,192 tokens, 1.3 s for 100 MB and
32,768; nothing to load or compile.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from .._support.textio import utf8_counts
from ..core.batch import thread_count
from ..errors import TrainingError
from ..model.trace import BYTES, TrainStep
from ..native import counter_for, require_extension
from ..pretokenizers.split import Split
from .corpus import BLOCK
from .incremental import train_incremental
from .pretoken_counts import BEYOND_64_BITS, Words, concat_words

MAX_THREADS = 8
"""One thread reads for all others."""
MAX_BYTES = (1 << 31) - 512
"""Of distinct words with a border each, whose positions have 31 bits."""
MAX_COUNT = 1 << 62
MAX_MEMORY = 8 << 30
"""Bytes that counts take before they go to files, by default."""


def train_native(
    words: Mapping[bytes, int] | Words, num_merges: int, min_frequency: int = 2, keep_counts: bool = False
) -> Iterator[TrainStep]:
    """Yield the merges, most frequent first; fewer than `num_merges` when no pair is left `min_frequency` times.

    `keep_counts` asks for all counts at each step, which is work for dictionaries: `train_incremental` does it then.

    >>> [step.token for step in train_native({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 4)]
    [b'es', b'est', b'lo', b'low']

    Raises MissingDependencyError without the extension, and TrainingError for words of two gigabytes or counts beyond
    64 bits.
    """
    require_extension()
    if keep_counts:
        plain = words.as_dict() if isinstance(words, Words) else words
        yield from train_incremental(plain, num_merges, min_frequency, keep_counts)
        return
    tokens = list(BYTES)
    for merges in merges_in_batches(words, num_merges, min_frequency):
        for left, right, count in merges:
            tokens.append(tokens[left] + tokens[right])
            yield TrainStep(len(tokens) - 257, left, right, count, tokens[-1])


def merges_in_batches(
    words: Mapping[bytes, int] | Words, num_merges: int, min_frequency: int
) -> Iterator[list[tuple[int, int, int]]]:
    """Yield what `train_native` yields as it comes from C: lists of (left, right, count), some 20 ms of work each."""
    from ..native._core import MergeLearner

    table = words if isinstance(words, Words) else Words.of(words)
    size = len(table.content) + len(table.ends)
    if size >= MAX_BYTES:
        raise TrainingError(
            f"the distinct pre-tokens have {size:,} bytes, more than the native trainer takes; train on less text, "
            "or with a pattern that cuts it into words"
        )
    most, least = max(0, min(num_merges, size)), min(max(min_frequency, 1), MAX_COUNT)
    try:
        learner = MergeLearner(most, least)
        learner.add(*table)
    except OverflowError as error:
        raise TrainingError(BEYOND_64_BITS) from error
    while merges := learner.learn():
        yield merges


class WordCounter:
    """Counts the pre-tokens of texts. It belongs to one thread.

    >>> counter = WordCounter(Split("gpt2"))
    >>> counter.feed(["low lower", "low"])
    >>> sorted(counter.words().as_dict().items())
    [(b' lower', 1), (b'low', 2)]
    """

    def __init__(self, split: Split | None) -> None:
        self._split, self.counter = split, counter_for(split)

    @property
    def scans(self) -> bool:
        """Whether texts are pre-tokenized in C, or not at all."""
        return self._split is None or self.counter.scans

    @property
    def nbytes(self) -> int:
        """The bytes of what was counted so far."""
        return self.counter.nbytes

    def feed(self, texts: list[str] | list[str | bytes]) -> None:
        """Count the pre-tokens of `texts`, each by itself: a str, or bytes that are UTF-8."""
        others: Counter[str] = Counter()
        if self.scans:
            rests = self.counter.feed(texts)
        else:
            rests = [text if isinstance(text, str) else text.decode() for text in texts]
        for text in rests:
            others.update(self._split.split(text) if self._split else [text])
        if others:
            self.add(Words.of(utf8_counts(others)))

    def stop(self) -> None:
        """Make `feed`, which runs in another thread, return as soon as it can."""
        self.counter.stop()

    def clear(self) -> None:
        """Forget what was counted so far."""
        self.counter.clear()

    def add(self, words: Sequence[object]) -> None:
        """Count words, as a table of `Words` or `Counts`, as often as they occur."""
        try:
            self.counter.add(*words)
        except OverflowError as error:
            raise TrainingError(BEYOND_64_BITS) from error

    def words(self, least: int = 1, bucket: int = 0, buckets: int = 1) -> Words:
        """Return what occurs `least` times, in no order that means anything; of several buckets, what is in one."""
        return Words.from_buffers(*self.counter.words(min(least, MAX_COUNT), bucket, buckets))


class TextCounter(Protocol):
    """Counts texts. It belongs to one thread."""

    def feed(self, texts: Any, /) -> object:
        """Count a list of texts."""

    def stop(self) -> object:
        """Make `feed`, which runs in another thread, return as soon as it can."""


C = TypeVar("C", bound=TextCounter)
T = TypeVar("T", str, str | bytes)


def count_native(
    texts: Iterable[str | bytes],
    split: Split | None,
    threads: int | None = None,
    least: int = 1,
    max_memory: int = MAX_MEMORY,
) -> Words:
    """Count the pre-tokens of `texts`, str or UTF-8, each by itself; by default with a thread for each core.

    Pre-tokens that occur less than `least` times are left out. Counts are kept in about `max_memory` bytes, and in
    files beyond that. Raises MissingDependencyError without the extension, TrainingError where files can't be written,
    and what `texts` raises.
    """
    from .spill_runs import WordTables

    require_extension()
    first = WordCounter(split)
    if not first.scans:
        threads = 1  # a pre-tokenizer in Python holds the lock, and may limit its time
    threads = threads or min(thread_count(None), MAX_THREADS)
    with WordTables(max_memory, threads) as tables:
        counters = count_on_threads(texts, lambda: WordCounter(split), threads, tables.spill, first)
        if tables.used:
            while counters:
                tables.take(counters.pop())
            return concat_words(tables.sums(least))
    while len(counters) > 1:
        counters[0].add(counters.pop().words())
    return counters[0].words(least)


def count_on_threads(
    texts: Iterable[T],
    make: Callable[[], C],
    threads: int,
    after: Callable[[C], object] = lambda counter: None,
    first: C | None = None,
) -> list[C]:
    """Feed texts to counters, a thread for each, and return these: one at least. `after` is called after each call.

    Raises what `texts` raises, and what the counters do.
    """
    counters = [make() if first is None else first]
    free = counters.copy()

    def feed(batch: list[T]) -> None:
        try:
            counter = free.pop()
        except IndexError:
            counters.append(counter := make())
        counter.feed(batch)
        after(counter)
        free.append(counter)

    waiting: deque[Future[None]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for batch in batches(texts):
                waiting.append(pool.submit(feed, batch))
                if len(waiting) > 2 * threads:
                    waiting.popleft().result()
            for future in waiting:
                future.result()
        finally:  # after an error or Ctrl-C, don't wait for what is left
            for counter in counters:
                counter.stop()
            pool.shutdown(cancel_futures=True)
    return counters


def batches(texts: Iterable[T]) -> Iterator[list[T]]:
    """Yield texts in lists of about a block, so that many short ones don't cost a call each."""
    batch, size = list[T](), 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= BLOCK:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
