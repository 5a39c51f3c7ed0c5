"""Resident memory of this process: now, and at most since a moment.

Linux says both in /proc, and lets a process start the maximum anew. Elsewhere psutil says what is there now, and the
maximum is looked for by a thread, which may miss a short one.
"""

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from ..errors import MissingDependencyError

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _from_status(key: str) -> int:
    line = next(line for line in STATUS.read_text("ascii").split("\n") if line.startswith(key))
    return int(line.split()[1]) * 1024


class Memory:
    """A meter.

    >>> Memory().now() > 1_000_000
    True

    Raises MissingDependencyError where there is neither /proc nor psutil.
    """

    def __init__(self) -> None:
        self._linux = STATUS.exists()
        self.now: Callable[[], int] = (lambda: _from_status("VmRSS")) if self._linux else _psutil()
        self._most, self._stop = 0, Event()

    def restart(self) -> None:
        """Begin to look for the maximum."""
        if self._linux:
            CLEAR.write_text("5", "ascii")
        else:
            self._most = self.now()
            Thread(target=self._watch, daemon=True).start()

    def peak(self) -> int:
        """The maximum since `restart`, in bytes."""
        if self._linux:
            return _from_status("VmHWM")
        self._stop.set()
        return max(self._most, self.now())

    def _watch(self) -> None:
        while not self._stop.wait(0.005):
            self._most = max(self._most, self.now())


def _psutil() -> Callable[[], int]:
    try:
        import psutil
    except ImportError as error:
        raise MissingDependencyError(
            "memory is measured on Linux, and elsewhere with psutil: pip install psutil"
        ) from error
    process = psutil.Process()
    return lambda: int(process.memory_info().rss)
