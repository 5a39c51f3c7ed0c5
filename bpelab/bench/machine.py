"""The machine: its processors and their features, its load, and how to pin a process to some processors."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..core.batch import thread_count
from ..native import instruction_set

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
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def instruction_sets() -> list[str] | None:
    """Return the names of the processor's vector and bit instructions; None if the system doesn't report them.

    Linux has them in /proc/cpuinfo (`avx2`, `asimd`), macOS in sysctl (`AVX2`, `FEAT_DotProd`).
    """
    names = (_cpuinfo("flags") or _cpuinfo("Features") or _sysctl()).split()
    return sorted(name for name in set(names) if INSTRUCTION_SETS.match(name.removeprefix("FEAT_"))) or None


def _cpuinfo(key: str) -> str:
    """Return the first value of a key in /proc/cpuinfo, or an empty string."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").split("\n")
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == key), "")


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
