"""Native training: the extension in C learns the merges of `incremental.py`, in the same order (`native/learn.h`).

Chapter: Incremental training. Cost: 0.2 s of CPU time for 10 MB of English and 8,192 tokens, 1.3 s for 100 MB and
32,768, counting included; nothing to load or compile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import TrainingError
from ..model.trace import BYTES, TrainStep
from ..native import require_extension
from .counting.pre_token_counts import BEYOND_64_BITS, PreTokenCounts
from .incremental import train_incremental

if TYPE_CHECKING:
    from ..native._core import MergeLearner

MAX_BYTES = (1 << 31) - 512
"""The most bytes of distinct pre-tokens, with a separator for each: positions have 31 bits."""
MAX_COUNT = 1 << 62


def train_native(
    pre_tokens: Mapping[bytes, int] | PreTokenCounts,
    num_merges: int,
    min_frequency: int = 2,
    keep_counts: bool = False,
) -> Iterator[TrainStep]:
    """Yield up to `num_merges` merges, most frequent first, while some pair occurs at least `min_frequency` times.

    With `keep_counts`, which asks for all counts at each step, `train_incremental` does the work.

    >>> [step.token for step in train_native({b"low": 5, b"lower": 2, b"newest": 6, b"widest": 3}, 4)]
    [b'es', b'est', b'lo', b'low']

    Raises MissingDependencyError without the extension, and TrainingError for pre-tokens of two gigabytes or counts
    beyond 64 bits.
    """
    require_extension()
    if keep_counts:
        mapping = pre_tokens.as_dict() if isinstance(pre_tokens, PreTokenCounts) else pre_tokens
        yield from train_incremental(mapping, num_merges, min_frequency, keep_counts)
        return
    from ..native._core import MergeLearner

    table = pre_tokens if isinstance(pre_tokens, PreTokenCounts) else PreTokenCounts.of(pre_tokens)
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
    yield from learned_steps(learner, BYTES)


def learned_steps(learner: MergeLearner, initial: Sequence[bytes]) -> Iterator[TrainStep]:
    """Yield the merges of a learner in C that started from `initial` tokens."""
    tokens = list(initial)
    while merges := learner.learn():
        for left, right, count in merges:
            tokens.append(tokens[left] + tokens[right])
            yield TrainStep(len(tokens) - len(initial) - 1, left, right, count, tokens[-1])
