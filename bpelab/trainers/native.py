"""Training compiled by numba: words counted and merges learned in arrays, the same merges in the same order.

What it does is what `corpus.py` and `incremental.py` do; the kernels are in `bpelab/compiled`: `counting.py` and
`learning.py`. Texts are counted by several threads, each with a table of its own, since kernels let go of the
interpreter's lock; which thread counts what changes no count.

Chapter: Incremental training. Cost: 0.15 s of CPU time for 10 MB of English and 8,192 tokens, 1.8 s for 100 MB and
32,768; once in a process some 0.8 s to load the kernels, and once on a machine some 7 s to compile them.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from ..compiled.kernel_folder import compiled, note_compiled, numba_version
from ..documents import thread_count
from ..errors import MissingDependencyError
from ..install import install_command
from ..pretokenizers.split import Split
from ..trace import TrainStep
from .corpus import BLOCK
from .incremental import train_incremental

if TYPE_CHECKING:
    from ..compiled.words import Words

MOST_THREADS = 8
"""One thread reads for all others."""
ON_DISK, NOT_COMPILED = 4_000_000, 40_000_000
"""Characters of a corpus from which this pays: with kernels that were compiled before, and without."""


def train_compiled(
    words: Mapping[bytes, int] | Words, num_merges: int, min_frequency: int = 2, keep_counts: bool = False
) -> Iterator[TrainStep]:
    """The merges, most frequent first; fewer than `num_merges` when no pair occurs `min_frequency` times any more.

    `keep_counts` asks for all counts at each step, which is work for dictionaries: `train_incremental` does it then.

    >>> [step.token for step in train_compiled({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 4)]
    [b'es', b'est', b'lo', b'low']

    Raises MissingDependencyError without numba, and TrainingError for words of two gigabytes or counts beyond 64 bits.
    """
    require_numba()
    from ..compiled.learning import learn_merges
    from ..compiled.words import Words

    if keep_counts:
        plain = words.as_dict() if isinstance(words, Words) else words
        yield from train_incremental(plain, num_merges, min_frequency, keep_counts)
        return
    arrays = words if isinstance(words, Words) else Words.of(words)
    tokens = [bytes([byte]) for byte in range(256)]
    for rank, (left, right, count) in enumerate(learn_merges(arrays, num_merges, min_frequency)):
        tokens.append(tokens[left] + tokens[right])
        yield TrainStep(rank, left, right, count, tokens[-1])
    note_compiled("training")


def count_compiled(texts: Iterable[str], split: Split | None, threads: int | None = None) -> Words:
    """How often each pre-token occurs in `texts`, each of which is cut by itself; by default a thread for each core.

    Raises MissingDependencyError without numba, and what `texts` raises.
    """
    require_numba()
    from ..compiled.words import WordCounter

    counters = [WordCounter(split)]
    free = counters.copy()
    if not counters[0].scans:
        threads = 1  # what cuts in Python holds the lock, and may watch its time
    threads = threads or min(thread_count(None), MOST_THREADS)

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
        finally:  # nothing is left to do, or an error or Ctrl-C shall not wait for what is
            for counter in counters:
                counter.stopped = True
            pool.shutdown(cancel_futures=True)
    for counter in counters[1:]:
        counters[0].add(counter.words())
    return counters[0].words()


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts in lists of about a block, so that many short ones don't cost a call each."""
    batch, size = list[str](), 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= BLOCK:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def pays_from() -> int | None:
    """Characters of the smallest corpus that is done sooner than in Python; None without numba."""
    if numba_version() is None:
        return None
    return ON_DISK if "bpelab.compiled.learning" in sys.modules or compiled("training") else NOT_COMPILED


def warm() -> None:
    """Have every kernel for training compiled and kept."""
    text = "".join(f" {number}" for number in range(2_000))  # so many words that tables grow
    for _ in train_compiled(count_compiled([text, "a longer word: " + "ab" * 20], Split("gpt2")), 600):
        pass


def require_numba() -> None:
    """Raises MissingDependencyError where numba can't be imported."""
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(f"compiled training needs numba: {install_command('fast')}") from error
