"""Native training: the extension in C counts words and learns merges, the same ones in the same order.

`count.h` and `learn.h` in `bpelab/native` do what `corpus.py` and `incremental.py` do. Several threads count texts,
each in a table of its own, since the extension releases the interpreter's lock; the counts don't depend on which.

Chapter: Incremental training. Cost: 0.2 s of CPU time for 10 MB of English and 8,192 tokens, 1.3 s for 100 MB and
32,768; nothing to load or compile.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from .._support.textio import utf8_counts
from ..core.batch import thread_count
from ..errors import TrainingError
from ..model.trace import TrainStep
from ..native import counter_for, require_extension
from ..pretokenizers.split import Split
from .corpus import BLOCK
from .incremental import train_incremental
from .pretoken_counts import BEYOND_64_BITS, Words

MAX_THREADS = 8
"""One thread reads for all others."""
MAX_BYTES = (1 << 31) - 512
"""Of distinct words with a border each, whose positions have 31 bits."""
MAX_COUNT = 1 << 62


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
    tokens = [bytes([byte]) for byte in range(256)]
    while merges := learner.learn():
        for left, right, count in merges:
            tokens.append(tokens[left] + tokens[right])
            yield TrainStep(len(tokens) - 257, left, right, count, tokens[-1])


class WordCounter:
    """Counts the pre-tokens of texts. It belongs to one thread.

    >>> counter = WordCounter(Split("gpt2"))
    >>> counter.feed(["low lower", "low"])
    >>> sorted(counter.words().as_dict().items())
    [(b' lower', 1), (b'low', 2)]
    """

    def __init__(self, split: Split | None) -> None:
        self._split, self._counter = split, counter_for(split)

    @property
    def scans(self) -> bool:
        """Whether texts are pre-tokenized in C, or not at all."""
        return self._split is None or self._counter.scans

    @property
    def nbytes(self) -> int:
        """The bytes of what was counted so far."""
        return self._counter.nbytes

    def feed(self, texts: list[str]) -> None:
        """Count the pre-tokens of `texts`, each by itself."""
        others: Counter[str] = Counter()
        for text in self._counter.feed(texts) if self.scans else texts:
            others.update(self._split.split(text) if self._split else [text])
        if others:
            self.add(Words.of(utf8_counts(others)))

    def stop(self) -> None:
        """Make `feed`, which runs in another thread, return as soon as it can."""
        self._counter.stop()

    def add(self, words: Sequence[object]) -> None:
        """Count words, as a table of `Words` or `Counts`, as often as they occur."""
        try:
            self._counter.add(*words)
        except OverflowError as error:
            raise TrainingError(BEYOND_64_BITS) from error

    def words(self, least: int = 1) -> Words:
        """Return what occurs `least` times, in no order that means anything."""
        return Words.from_buffers(*self._counter.words(min(least, MAX_COUNT)))


def count_native(texts: Iterable[str], split: Split | None, threads: int | None = None, least: int = 1) -> Words:
    """Count the pre-tokens of `texts`, each by itself; by default with a thread for each core.

    Pre-tokens that occur less than `least` times are left out. Raises MissingDependencyError without the extension, and
    what `texts` raises.
    """
    require_extension()
    counters = [WordCounter(split)]
    free = counters.copy()
    if not counters[0].scans:
        threads = 1  # a pre-tokenizer in Python holds the lock, and may limit its time
    threads = threads or min(thread_count(None), MAX_THREADS)

    def feed(batch: list[str]) -> None:
        try:
            counter = free.pop()
        except IndexError:
            counters.append(counter := WordCounter(split))
        counter.feed(batch)
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
    for counter in counters[1:]:
        counters[0].add(counter.words())
    return counters[0].words(least)


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield texts in lists of about a block, so that many short ones don't cost a call each."""
    batch, size = list[str](), 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= BLOCK:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
