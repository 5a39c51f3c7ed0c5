"""Measured throughput and latency for a chosen batch size. Chapter: A tokenizer in production."""

from collections.abc import Mapping
from html import escape
from typing import Any

from ..analysis.validate import require_number
from ..errors import BPELabError
from .base import Figure
from .visible import html_table, pluralize

FILL, CALL = "until the batch is full", "until its call returns"


class BatchSizes(Figure):
    """A slider over batch sizes: texts a second by number of threads, and how long the first text of a batch waits.

    `milliseconds` maps (texts in a batch, threads) to the time of one call, with the same threads for each size.
    `per_second` texts arrive, evenly spaced, so the first of a batch waits for the others and then for the call.

    >>> figure = BatchSizes({(1, 1): 0.5, (1, 2): 0.5, (100, 1): 2.0, (100, 2): 1.25}, per_second=1000)
    >>> print(figure.data["says"][1])
    Batches of 100: 50,000 texts a second with 1 thread, 80,000 with 2 threads. At 1,000 arriving a second, the first
    waits 99 ms for the others, then 1.25 to 2 ms for the call.

    Raises BPELabError without measurements, if a size lacks a number of threads, and for numbers that aren't positive.
    """

    name = "batch_sizes"
    limit = 0

    def __init__(self, milliseconds: Mapping[tuple[int, int], float], per_second: float) -> None:
        self._sizes, self._threads = (sorted({key[part] for key in milliseconds}) for part in (0, 1))
        if not milliseconds or len(milliseconds) != len(self._sizes) * len(self._threads):
            raise BPELabError("a time is needed for each batch size with each number of threads")
        for value in (*self._sizes, *self._threads, *milliseconds.values(), per_second):
            require_number("each size, number of threads, time and rate", value, above=True)
        self._milliseconds, self._rate = dict(milliseconds), per_second
        super().__init__("")

    def compute(self, text: str) -> dict[str, Any]:
        """Return, for each size, the lengths of its bars in percent, their labels, and a sentence."""
        most = max(size / time for (size, _), time in self._milliseconds.items())
        steps = [self._step(size, most) for size in self._sizes]
        names = [pluralize(threads, "thread") for threads in self._threads]
        head = f"What the first text of a batch waits, at {_number(self._rate)} a second"
        data = {"names": names, "steps": steps, "parts": [FILL, CALL], "heads": ["Texts encoded in a second", head]}
        return {**data, "says": [step.pop("say") for step in steps], "say": f"{pluralize(len(steps), 'batch size')}."}

    def _step(self, size: int, most: float) -> dict[str, Any]:
        calls = [self._milliseconds[size, threads] for threads in self._threads]
        fill = 1000 * (size - 1) / self._rate
        rates = [_number(1000 * size / call) for call in calls]
        named = [f"{rate} with {pluralize(threads, 'thread')}" for rate, threads in zip(rates, self._threads)]
        named[0] = named[0].replace(" with", " texts a second with", 1)
        low, high = _time(min(calls)), _time(max(calls))
        between = high if low == high else f"{low.removesuffix(' ms')} to {high}"
        return {
            "size": f"{size:,}",
            "rates": [round(100 * size / call / most, 2) for call in calls],
            "waits": [[round(100 * part / (fill + max(calls)), 2) for part in (fill, call)] for call in calls],
            "labels": [rates, [_time(fill + call) for call in calls]],
            "say": (
                f"Batches of {size:,}: {', '.join(named)}. At {_number(self._rate)} arriving a second, the first waits "
                f"{_time(fill)} for the others, then {between} for the call."
            ),
        }

    def still(self, data: dict[str, Any]) -> str:
        """Return a table of all sizes and threads."""
        rows = ((step["size"], *cells) for step in data["steps"] for cells in zip(self._threads, *step["labels"]))
        table = html_table(("batch", "threads", "texts a second", "the first waits"), rows)
        return f"{table}\n<p>{escape(data['heads'][1])}.</p>"


def _number(number: float) -> str:
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 100 else f"{number:.3g}"


def _time(milliseconds: float) -> str:
    return f"{_number(milliseconds)} ms"
