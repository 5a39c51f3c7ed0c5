"""Devices, the status of backends, and the text and numbers that other programs say about devices.

Tools may print anything: an impossible number becomes unknown, never a guess. Chapter: Chat on your hardware.
"""

import re
from dataclasses import dataclass
from typing import Any

MIB = 1 << 20
LARGEST = 1 << 56
"""More bytes than any device has."""


@dataclass(frozen=True)
class Device:
    """A device that a model can run on.

    Attributes:
        kind: "cpu", or the interface to it: "cuda", "rocm", "metal", "vulkan", "xpu", "sycl", "openvino-gpu",
            "openvino-npu". A GPU with two interfaces is listed twice.
        name: its maker's name for it.
        memory_bytes: its total memory; for an Apple GPU the machine's, which it shares. None: unknown.
        free_bytes: how much of it was free. None: unknown.
        driver: the driver's version or name.
    """

    kind: str
    name: str
    memory_bytes: int | None = None
    free_bytes: int | None = None
    driver: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}" if self.name and self.kind != "cpu" else self.kind


@dataclass(frozen=True)
class BackendStatus:
    """What a backend can currently do on this machine.

    Attributes:
        name: its name in BACKENDS.
        installed: the version of its package. None: not installed.
        devices: what it can use now, the best first, as "kind" or "kind: name"; none if it can't run.
        problem: what keeps it from running, or from using more devices; or None.
        install: the command that installs or repairs it on this machine; "" if there is none.
        note: what to know before running that command.
    """

    name: str
    installed: str | None
    devices: tuple[str, ...]
    problem: str | None
    install: str
    note: str | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its devices.

        >>> BackendStatus("mlx", "0.32", ("metal: Apple M2", "cpu"), None, "").kinds
        ('metal', 'cpu')
        """
        return tuple(device.partition(":")[0] for device in self.devices)


def sanitize(text: object, most: int = 120) -> str:
    """Return `text` as one line of printable characters, at most `most` of them.

    >>> sanitize("  NVIDIA\\tH200\\x1b[0m\\n")
    'NVIDIA H200 [0m'
    """
    printable = "".join(char if char.isprintable() else " " for char in str(text)[: 4 * most])
    line = " ".join(printable.split())
    return line if len(line) <= most else line[: most - 3] + "..."


def parse_count(value: Any, unit: int = 1, least: int = 1) -> int | None:
    """Return the bytes in a tool's answer, which counts units of `unit` bytes; None if it isn't a valid number.

    >>> [parse_count(size, MIB) for size in ("143771", "[N/A]", -1, True, "9" * 5000)]
    [150754820096, None, None, None, None]
    """
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,18}\s*", value, re.ASCII):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value * unit) if least <= value * unit < LARGEST else None


def fields(text: str, mark: str = ":") -> dict[str, str]:
    """Parse `name: value` lines; of repeated names the first counts.

    >>> fields("MemTotal: 5 kB")
    {'MemTotal': '5 kB'}
    """
    values: dict[str, str] = {}
    for line in text.splitlines():
        name, there, value = line.partition(mark)
        if there:
            values.setdefault(name.strip(), value.strip())
    return values
