"""The processor and the memory that this process may use.

psutil knows a machine's memory and physical cores on every system. It sees no control groups, by which Linux limits a
container or a batch job to less than its machine has: these are read here.

Chapter: Chat on your hardware. Sources: proc(5), cgroups(7), Linux's Documentation/admin-guide/cgroup-v2.rst.
"""

import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ...core.batch import thread_count
from .device import fields

ROOT = Path("/")
CPU_NAMES = ("model name", "Model", "Hardware", "cpu model", "cpu")
"""The names of the processor's name in /proc/cpuinfo, which differ between architectures."""
NO_LIMIT = 1 << 60
"""A limit of memory from which on it is none: cgroup v1 has no word for that, only a number near 2**63."""


class Host(NamedTuple):
    """The processor's name, the cores and the bytes of memory for this process, and this Python's architecture."""

    cpu: str | None
    cores: int
    memory_bytes: int | None
    free_bytes: int | None
    architecture: str


def describe(root: Path = ROOT) -> Host:
    """Return what this process may use; the processor's name is None on a Mac and on many ARM machines."""
    return Host(cpu_name(root), cores(root), *memory(root), platform.machine())


def cpu_name(root: Path = ROOT) -> str | None:
    """Return the processor's name as Linux or Windows knows it; None if it doesn't."""
    if sys.platform == "win32":
        import winreg

        processor = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with suppress(OSError), winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, processor) as key:
            return str(winreg.QueryValueEx(key, "ProcessorNameString")[0])
    values = fields(read(root / "proc/cpuinfo"))
    return next((values[name] for name in CPU_NAMES if values.get(name)), None)


def cores(root: Path = ROOT) -> int:
    """Return how many processors this process may use at once; a share such as 1.5 is rounded down."""
    allowed = _affinity()
    for folder in control_groups("cpu", root):
        quota, _, period = read(folder / "cpu.max").partition(" ")
        if not period:
            quota, period = read(folder / "cpu.cfs_quota_us"), read(folder / "cpu.cfs_period_us")
        share, whole = number(quota), number(period)
        if share and whole:
            allowed = min(allowed, max(1, share // whole))
    return allowed


def threads(root: Path = ROOT) -> int:
    """Return how many threads an engine takes if it isn't told: one for each physical core that it may use.

    A second thread on a core computes little, since both share its arithmetic units. Affinity and control groups limit
    the number as they limit that of `cores`. Where psutil doesn't know the physical cores, each processor counts.
    """
    allowed = cores(root)
    with suppress(Exception):  # psutil isn't installed, or the system hides its cores from it
        import psutil

        return min(allowed, psutil.cpu_count(logical=False) or allowed)
    return allowed


def memory(root: Path = ROOT) -> tuple[int | None, int | None]:
    """Return the bytes of memory that this process may use, and how many of them are free; None if unknown."""
    total, free = machine_memory()
    for folder in control_groups("memory", root):
        for most, used, cache in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            limit, now = number(read(folder / most)), number(read(folder / used))
            if limit is None or limit >= (NO_LIMIT if total is None else total):
                continue
            total = limit
            if now is not None:
                reclaimable = number(fields(read(folder / "memory.stat"), " ").get(cache, "")) or 0
                unused = max(0, limit - now + reclaimable)
                free = unused if free is None else min(free, unused)
    return total, free


def machine_memory() -> tuple[int | None, int | None]:
    """Return the machine's memory and how much of it is free, whatever this process may use; None if unknown."""
    try:
        import psutil

        answer = psutil.virtual_memory()
        return answer.total, answer.available
    except Exception:  # psutil isn't installed, or the system hides its memory from it
        return None, None


def control_groups(controller: str, root: Path = ROOT) -> Iterator[Path]:
    """Yield the folders whose limits apply to this process: its cgroup and all above it, in cgroup v1 and v2."""
    base = root / "sys/fs/cgroup"
    for line in read(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if names and controller not in names.split(","):
            continue
        parts = [part for part in path.split("/") if part not in ("", ".", "..")]
        for top in (base, base / "unified") if number == "0" and not names else (base / controller,):
            for depth in range(len(parts), -1, -1):  # a container doesn't have the upper part of the path
                yield top.joinpath(*parts[:depth])


def read(path: Path) -> str:
    """Return the first 64 KiB of a file as text, or "" if it can't be read."""
    try:
        with path.open("rb") as file:
            return file.read(1 << 16).decode("utf-8", "replace")
    except OSError:
        return ""


def number(text: str) -> int | None:
    """Parse a file's text as a number; None if it isn't one.

    >>> number("1024\\n"), number("max")
    (1024, None)
    """
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) < 20 else None


def _affinity() -> int:
    """Return the number of processors that `taskset` or the like allows this process."""
    if sys.platform == "win32":
        with suppress(Exception):  # psutil isn't installed or fails
            import psutil

            return len(psutil.Process().cpu_affinity())
    return thread_count(None)
