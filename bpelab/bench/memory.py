"""Resident memory of this process: the current value, and the peak since a chosen moment.

Linux reports both in /proc, and lets a process reset the peak. Elsewhere psutil reports the current value, and a thread
polls it for the peak; it may miss a short one.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from ..errors import MissingDependencyError

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _from_status(key: str) -> int:
    line = next(line for line in STATUS.read_text("ascii").split("\n") if line.startswith(key))
    return int(line.split()[1]) * 1024


class MemoryMeter:
    """A meter of resident memory; `current()` returns bytes.

     MemoryMeter().current() > 1_000_000
    True

    Raises MissingDependencyError where there is neither /proc nor psutil.
    """

    def __init__(self) -> None:
        self._linux = STATUS.exists()
        self.current: Callable[[], int] = (lambda: _from_status("VmRSS")) if self._linux else _psutil()
        self._max, self._stop = 0, Event()

    def restart(self) -> None:
        """Start a new peak."""
        if self._linux:
            CLEAR.write_text("5", "ascii")
        else:
            self._max = self.current()
            Thread(target=self._watch, daemon=True).start()

    def peak(self) -> int:
        """Return the maximum since `restart`, in bytes."""
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
