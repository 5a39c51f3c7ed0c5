"""Clocks, and the arithmetic of paired runs.

On a machine that others use too, a library that is measured a minute after another is measured on another machine. So
within a round all run one after the other on the same text, each ratio is taken within its round, and the result is the
median of the rounds' ratios with its quartiles. Cost: that of what is timed.
"""

import gc
import time
from collections.abc import Callable, Mapping
from statistics import median, quantiles
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Spread(NamedTuple):
    """A median and its quartiles."""

    median: float
    low: float
    high: float


def timed(call: Callable[[], T]) -> tuple[T, float, float]:
    """Time a call; return its result, processor seconds (user and system, of all threads) and wall seconds.

    >>> timed(lambda: 3)[0]
    3
    """
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def freeze_heap() -> None:
    """Collect garbage, then exempt what is left from later collections: tokenizers hold a million objects."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def spread(values: list[float]) -> Spread:
    """Return the median and quartiles; for two values or one, the minimum and maximum instead of quartiles.

    >>> spread([4.0, 1.0, 2.0, 3.0, 5.0])
    Spread(median=3.0, low=2.0, high=4.0)
    """
    if len(values) < 3:
        return Spread(median(values), min(values), max(values))
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return Spread(middle, low, high)


def paired_ratio(own: Mapping[int, float], baseline: Mapping[int, float]) -> Spread | None:
    """Return the ratio of two speeds over the rounds that both have; None if there is no such round.

    A slow round slows both and leaves its ratio unchanged; the ratio of the two medians would be 20 / 10 here.

    >>> paired_ratio({0: 30.0, 1: 20.0, 2: 3.0}, {0: 10.0, 1: 10.0, 2: 1.0})
    Spread(median=3.0, low=2.5, high=3.0)
    """
    ratios = [own[index] / baseline[index] for index in sorted(own) if index in baseline]
    return spread(ratios) if ratios else None
