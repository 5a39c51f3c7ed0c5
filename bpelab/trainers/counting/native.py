"""Native counting: the extension in C counts pre-tokens on several threads, as `corpus.py` does on one.

Each thread counts in its own table (`native/count.h`), while the extension releases the GIL. The counts don't depend on
which thread took which text.

Chapter: Incremental training. Cost: with learning, see `trainers/native.py`. Memory: see `count_native`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from ..._support.textio import utf8_counts
from ...core.batch import thread_count
from ...errors import TrainingError
from ...native import counter_for, require_extension
from ...pretokenizers.split import Split
from .corpus import BLOCK
from .pre_token_counts import BEYOND_64_BITS, PreTokenCounts, concat_counts

MAX_THREADS = 8
"""The most threads, since a single thread reads for all others."""
MAX_COUNT = 1 << 62
"""The largest count that C accepts."""
MAX_MEMORY = 8 << 30
"""The default limit, in bytes, on counts in memory; beyond it they go to files."""


class NativeCounter:
    """Counts the pre-tokens of texts. Each thread needs its own.

    >>> counter = NativeCounter(Split("gpt2"))
    >>> counter.feed(["low lower", "low"])
    >>> sorted(counter.table().as_dict().items())
    [(b' lower', 1), (b'low', 2)]
    """

    def __init__(self, split: Split | None) -> None:
        self._split, self.counter = split, counter_for(split)

    @property
    def scans(self) -> bool:
        """True if texts are pre-tokenized in C, or not at all."""
        return self._split is None or self.counter.scans

    @property
    def nbytes(self) -> int:
        """The size of the counts so far, in bytes."""
        return self.counter.nbytes

    def feed(self, texts: list[str] | list[str | bytes]) -> None:
        """Count the pre-tokens of `texts` (str, or bytes in UTF-8), each text separately."""
        others: Counter[str] = Counter()
        if self.scans:
            rests = self.counter.feed(texts)
        else:
            rests = [text if isinstance(text, str) else text.decode() for text in texts]
        for text in rests:
            others.update(self._split.split(text) if self._split else [text])
        if others:
            self.add(PreTokenCounts.of(utf8_counts(others)))

    def stop(self) -> None:
        """Make `feed`, running in another thread, return as soon as it can."""
        self.counter.stop()

    def clear(self) -> None:
        """Reset all counts."""
        self.counter.clear()

    def add(self, table: PreTokenCounts) -> None:
        """Add the counts of a table."""
        try:
            self.counter.add(*table)
        except OverflowError as error:
            raise TrainingError(BEYOND_64_BITS) from error

    def table(self, least: int = 1, bucket: int = 0, buckets: int = 1) -> PreTokenCounts:
        """Return one of `buckets` buckets: pre-tokens that occur at least `least` times, in arbitrary order."""
        return PreTokenCounts.from_buffers(*self.counter.words(min(least, MAX_COUNT), bucket, buckets))


class TextCounter(Protocol):
    """Counts texts. Each thread needs its own."""

    def feed(self, texts: Any, /) -> object:
        """Count a list of texts."""

    def stop(self) -> object:
        """Make `feed`, running in another thread, return as soon as it can."""


C = TypeVar("C", bound=TextCounter)
T = TypeVar("T", str, str | bytes)


def count_native(
    texts: Iterable[str | bytes],
    split: Split | None,
    threads: int | None = None,
    least: int = 1,
    max_memory: int = MAX_MEMORY,
) -> PreTokenCounts:
    """Count the pre-tokens of `texts` (str or UTF-8), each text separately, by default with a thread for each core.

    Pre-tokens that occur less than `least` times are dropped. Counts take about `max_memory` bytes; beyond that they go
    to files. Raises MissingDependencyError without the extension, TrainingError if files can't be written, and the
    errors of `texts`.
    """
    from .spill_runs import ThreadCounts

    require_extension()
    first = NativeCounter(split)
    if not first.scans:
        threads = 1  # a pre-tokenizer in Python holds the GIL, and may have a time limit
    threads = threads or min(thread_count(None), MAX_THREADS)
    with ThreadCounts(max_memory, threads) as tables:
        counters = count_on_threads(texts, lambda: NativeCounter(split), threads, tables.spill, first)
        if tables.has_counts:
            while counters:
                tables.take(counters.pop())
            return concat_counts(tables.sums(least))
    while len(counters) > 1:
        counters[0].add(counters.pop().table())
    return counters[0].table(least)


def count_on_threads(
    texts: Iterable[T],
    make: Callable[[], C],
    threads: int,
    after: Callable[[C], object] = lambda counter: None,
    first: C | None = None,
) -> list[C]:
    """Feed texts to counters, one per thread, and return at least one counter. `after` is called after each batch.

    Raises the errors of `texts` and of the counters.
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
        finally:  # after an error or Ctrl-C, don't wait for the rest
            for counter in counters:
                counter.stop()
            pool.shutdown(cancel_futures=True)
    return counters


def batches(texts: Iterable[T]) -> Iterator[list[T]]:
    """Yield texts in lists of about a block, so that short texts don't cost a call each."""
    batch, size = list[T](), 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= BLOCK:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
