"""Many texts to ids: in blocks, each encoded by one call of C, which threads take one after the other.

Most texts of a batch are short, and what is done around each of them takes longer than encoding it; so it is done for
some hundred thousand characters at once. Threads are worth it only in C, where nobody waits for the interpreter's lock;
they are made for one batch and end with it, so that a process that is forked later misses none.

Chapter: Native code. Cost: that of encoding, divided by the threads; with lists as a result, 15 ns a token that is not.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, TypeVar

from .._support.fork_safety import fork_guard
from .._support.textio import valid_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..native._core import Encoder
    from .pipeline import Ids, Pipeline

MIN_BLOCK_CHARS, MAX_BLOCK_CHARS = 1 << 17, 1 << 20
"""Characters of a block: large ones find what making lists needs in the processor's cache, small ones are shared out
evenly."""
Block = TypeVar("Block")
Result = TypeVar("Result")


def thread_count(threads: int | None) -> int:
    """Return the number of threads to use: as given, or one for each processor that this process may use.

    >>> thread_count(3)
    3

    Raises ValueError for what is no number from 1 up.
    """
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads is a number from 1 up, or None for one a processor, not {threads!r}")
    return threads


def group_by_size(texts: Sequence[str], size: int) -> list[Sequence[str]]:
    """Return the texts in groups, each of which ends with the text that makes it as long as `size` or longer.

    >>> group_by_size(["abc", "", "d", "efg"], 4)
    [['abc', '', 'd'], ['efg']]
    """
    found, first, room = [], 0, size
    for index, length in enumerate(map(len, texts)):
        room -= length
        if room <= 0:
            found.append(texts[first : index + 1])
            first, room = index + 1, size
    return [*found, texts[first:]] if first < len(texts) else found


def block_size(characters: int, threads: int) -> int:
    """Characters of a block: four blocks a thread, where that makes none that is too small or too large."""
    return min(max(characters // (4 * threads), MIN_BLOCK_CHARS), MAX_BLOCK_CHARS)


def map_in_threads(work: Callable[[Block], Result], parts: Sequence[Block], threads: int) -> list[Result]:
    """`work` done on each of `parts`, by this thread and as many more; each takes the next part when it has done one.

    An exception ends it all, once the parts are done that others are at.
    """
    results: dict[int, Result] = {}
    queue = deque(enumerate(parts))

    def drain() -> None:
        try:
            while queue:
                try:
                    number, part = queue.popleft()
                except IndexError:  # another thread took the last one
                    return
                results[number] = work(part)
        except BaseException:
            queue.clear()
            raise

    threads = min(threads, len(parts) // 2)
    if threads < 2:
        drain()
    else:
        with fork_guard:
            from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads - 1) as pool:
            try:
                others = [pool.submit(drain) for _ in range(threads - 1)]
            except RuntimeError:  # no thread can be started any more: this one does it all
                others = []
            except BaseException:  # Ctrl-C, while some are at work already
                queue.clear()
                raise
            drain()
            for other in others:
                other.result()
    return [results[number] for number in range(len(parts))]


def as_arrays(
    pipeline: "Pipeline", texts: Sequence[str], allowed: frozenset[str], threads: int | None
) -> "tuple[Ids, NDArray[np.int64]]":
    """Return the result of `Pipeline.arrays`."""
    import numpy as np

    count, characters = thread_count(threads), sum(map(len, texts))
    native = pipeline.native
    if native is None:
        lists = encode_sequentially(pipeline, texts, allowed)
        offsets = np.fromiter(accumulate(map(len, lists), initial=0), np.int64, len(lists) + 1)
        return np.fromiter(chain.from_iterable(lists), np.uint32, int(offsets[-1])), offsets

    def work(part: Sequence[str], native: "Encoder" = native) -> "tuple[Ids, NDArray[np.int64]]":
        whole = undivided(pipeline, part, allowed)
        found = None if whole is None else native.encode_texts(whole)
        if found is not None:
            stops = np.frombuffer(found[1], np.int64)
            return np.frombuffer(found[0], np.uint32), stops[1:] - stops[:-1]
        each = [pipeline.array(valid_text(text), allowed) for text in part]
        return np.concatenate([np.empty(0, np.uint32), *each]), np.fromiter(map(len, each), np.int64, len(each))

    made = map_in_threads(work, group_by_size(texts, block_size(characters, count)), count)
    sizes = np.concatenate([np.zeros(1, np.int64), *(sizes for _, sizes in made)])
    ids = made[0][0] if len(made) == 1 else np.concatenate([np.empty(0, np.uint32), *(ids for ids, _ in made)])
    return ids, np.cumsum(sizes)


def as_lists(
    pipeline: "Pipeline", texts: Sequence[str], allowed: frozenset[str], threads: int | None
) -> list[list[int]]:
    """Return the result of `Pipeline.lists`."""
    count, characters = thread_count(threads), sum(map(len, texts))
    native = pipeline.native
    if native is None:
        return encode_sequentially(pipeline, texts, allowed)

    def work(part: Sequence[str], native: "Encoder" = native) -> list[list[int]]:
        whole = undivided(pipeline, part, allowed)
        found = None if whole is None else native.encode_texts(whole)
        return encode_sequentially(pipeline, part, allowed) if found is None else native.lists(*found)

    lists = map_in_threads(work, group_by_size(texts, block_size(characters, count)), count)
    return list(chain.from_iterable(lists))


def encode_sequentially(pipeline: "Pipeline", texts: Sequence[str], allowed: frozenset[str]) -> list[list[int]]:
    """Encode text by text."""
    return [pipeline.ids(valid_text(text), allowed) for text in texts]


def undivided(pipeline: "Pipeline", texts: Sequence[str], allowed: frozenset[str]) -> list[str] | None:
    """Return the texts as C takes them; None where one may hold an added token, or needs its origin."""
    whole = None if pipeline.asks_for_first else texts_without_added_tokens(pipeline, texts, allowed)
    if whole is None or pipeline.prepare is None:
        return None if whole is None else list(whole)
    return [pipeline.prepare(text, True) for text in whole]


def texts_without_added_tokens(
    pipeline: "Pipeline", texts: Sequence[str], allowed: frozenset[str]
) -> Sequence[str] | None:
    """Return the normalized texts, where no added token can be found in any of them; None where one may.

    They are searched all at once, since a search takes longer to begin than to go through a short text.
    """
    special, normalizer = pipeline.special, pipeline.normalizer
    hidden = not allowed and len(special.ids) == len(special.tokens)  # special tokens only, and none is wanted
    if not hidden and special.raw_matcher.first("\0".join(texts), 0) is not None:
        return None
    if normalizer is not None:
        texts = [normalizer(valid_text(text)) for text in texts]
    late = None if hidden else special.normalized_matcher(normalizer)
    return texts if late is None or late.first("\0".join(texts), 0) is None else None
