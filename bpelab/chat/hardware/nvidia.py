"""NVIDIA's GPUs, from `nvidia-smi`, which comes with the driver on Linux, on Windows and under WSL.

Chapter: Chat on your hardware. Source: `nvidia-smi --help-query-gpu`.
"""

import re

from .device import MIB, Device, parse_count, sanitize

ARGUMENTS = ("--query-gpu=name,memory.total,memory.free,driver_version", "--format=csv,noheader,nounits")
_UNKNOWN = r"\[[^\],]*\]|N/A"
_LINE = re.compile(rf"(.{{1,200}}?), *([0-9]+|{_UNKNOWN}), *([0-9]+|{_UNKNOWN}), *([0-9][0-9.]*|{_UNKNOWN})", re.ASCII)
ADVICE = (
    ("version mismatch", "the driver was updated since the machine started: restart it"),
    ("couldn't communicate", "the driver is not loaded: install it, or restart after installing it"),
    ("Insufficient Permissions", "this user may not open /dev/nvidia*"),
    ("Unknown Error", "restart the container or the machine"),
)
"""Words in its error messages, and what to do about them."""


def nvidia(text: str) -> list[Device]:
    """Return one device for each line of CSV.

    >>> nvidia("NVIDIA H200, 143771, 143155, 570.86.15\\n")[0]
    Device(kind='cuda', name='NVIDIA H200', memory_bytes=150754820096, free_bytes=150108897280, driver='570.86.15')
    """
    found = []
    for line in text.splitlines():
        if match := _LINE.fullmatch(line.strip()):
            name, total, free, driver = match.groups()
            version = driver if driver[0].isdigit() else None
            found.append(Device("cuda", sanitize(name), parse_count(total, MIB), parse_count(free, MIB, 0), version))
    return found


def advice(problem: str) -> str:
    """Return `problem` and, if it's a known one, what to do about it."""
    return next((f"{problem}: {words}" for known, words in ADVICE if known in problem), problem)
