"""The machine: its processors, their features and load; a process's clocks and memory, and the processors it may use.

Linux reports memory and its peak in /proc, and lets a process reset the peak. Elsewhere psutil reports the current
value, and a thread polls it for the peak; it may miss a short peak.
"""

import gc
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeVar

from ..chat.hardware import host
from ..chat.hardware.device import fields
from ..core.batch import thread_count
from ..errors import MissingDependencyError
from ..native import instruction_set

T = TypeVar("T")
CPUINFO, STATUS, CLEAR = Path("/proc/cpuinfo"), Path("/proc/self/status"), Path("/proc/self/clear_refs")
INSTRUCTION_SETS = re.compile(r"sse|ssse|avx|bmi|popcnt|f16c|fma|gfni|asimd|neon|sve|sme2?$|dotprod|crc32|i8mm", re.I)
"""Instruction sets that matter to tokenizers: wide registers, bit counting and bit shuffling."""


def machine() -> dict[str, Any]:
    """Describe the machine and its load."""
    return {
        "cpu": cpu_name(),
        "instruction_sets": instruction_sets(),
        "bpelab_uses": instruction_set(),
        "cores": thread_count(None),
        "pinned": hasattr(os, "sched_setaffinity"),
        "load_average": load_average(),
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": sys.version.split()[0],
    }


def cpu_name() -> str:
    """Return the processor's name, as far as the system reports it."""
    return host.cpu_name() or platform.processor() or platform.machine()


def instruction_sets() -> list[str] | None:
    """Return the names of the processor's vector and bit instructions; None if the system doesn't report them.

    Linux has them in /proc/cpuinfo (`avx2`, `asimd`), macOS in sysctl (`AVX2`, `FEAT_DotProd`).
    """
    about = fields(host.read(CPUINFO))
    names = (about.get("flags") or about.get("Features") or _sysctl()).split()
    return sorted(name for name in set(names) if INSTRUCTION_SETS.match(name.removeprefix("FEAT_"))) or None


def _sysctl() -> str:
    """Return the names of processor features that macOS reports; on Arm, those that are present."""
    try:
        shown = subprocess.run(["sysctl", "machdep.cpu", "hw.optional"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    lines = [line.partition(":") for line in shown.stdout.split("\n")]
    intel = [value for key, _, value in lines if key.endswith("features")]
    arm = [key.rpartition(".")[2] for key, _, value in lines if key.startswith("hw.optional") and value.strip() == "1"]
    return " ".join([*intel, *arm])


def load_average() -> list[float] | None:
    """Return the load averages of the last 1, 5 and 15 minutes; None if the system has none."""
    try:
        return [round(load, 2) for load in os.getloadavg()]
    except (AttributeError, OSError):
        return None


def pin(threads: int) -> None:
    """Pin this process, and any that it starts, to as many processors as it may have threads.

    Some libraries start a thread per processor whatever the environment says, but none starts more than it may run
    on. Processors are taken from different cores while there are enough, starting with the last, since systems do
    their own work on the first. Does nothing if the system has no processor affinity.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    allowed = sorted(os.sched_getaffinity(0), reverse=True)
    of_cores = {_core(processor): processor for processor in reversed(allowed)}
    preferred = sorted(of_cores.values(), reverse=True)
    others = [processor for processor in allowed if processor not in preferred]
    os.sched_setaffinity(0, [*preferred, *others][:threads])


def _core(processor: int) -> str:
    """Return the processors that share a core with `processor`, as Linux lists them."""
    try:
        return Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list").read_text("ascii")
    except OSError:
        return str(processor)


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

    >>> MemoryMeter().current() > 1_000_000
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
