"""Meters of this process: its clocks, and its resident memory, both current and peak since a chosen moment.

Linux reports memory and its peak in /proc, and lets a process reset the peak. Elsewhere psutil reports the current
value, and a thread polls it for the peak; it may miss a short peak.
"""

import gc
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import TypeVar

from ..errors import MissingDependencyError

T = TypeVar("T")
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def timed(call: Callable[[], T]) -> tuple[T, float, float]:
    """Time a call; return its result, processor seconds (user and system, of all threads) and wall seconds.

    >>> timed(lambda: 3)[0]
    3
    """
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def freeze_heap() -> None:
    """Collect garbage, then exempt all remaining objects from later collections: tokenizers hold a million."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _from_status(key: str) -> int:
    line = next(line for line in STATUS.read_text("ascii").split("\n") if line.startswith(key))
    return int(line.split()[1]) * 1024


class MemoryMeter:
    """A meter of resident memory; `current()` returns bytes.

     MemoryMeter().current() > 1_000_000
    True

    Raises MissingDependencyError if there is neither /proc nor psutil.
    """

    def __init__(self) -> None:
        self._linux = STATUS.exists()
        self.current: Callable[[], int] = (lambda: _from_status("VmRSS")) if self._linux else _psutil()
        self._max, self._stop = 0, Event()

    def restart(self) -> None:
        """Reset the peak."""
        if self._linux:
            CLEAR.write_text("5", "ascii")
        else:
            self._max = self.current()
            Thread(target=self._watch, daemon=True).start()

    def peak(self) -> int:
        """Return the peak since `restart`, in bytes."""
        if self._linux:
            return _from_status("VmHWM")
        self._stop.set()
        return max(self._max, self.current())

    def _watch(self) -> None:
        while not self._stop.wait(0.005):
            self._max = max(self._max, self.current())


def _psutil() -> Callable[[], int]:
    try:
        import psutil
    except ImportError as error:
        raise MissingDependencyError(
            "memory is measured on Linux, and elsewhere with psutil: pip install psutil"
        ) from error
    process = psutil.Process()
    return lambda: int(process.memory_info().rss)
