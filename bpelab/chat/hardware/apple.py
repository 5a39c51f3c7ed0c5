"""A Mac's processor, memory and GPU, from sysctl, vm_stat and system_profiler, which every macOS has.

Chapter: Chat on your hardware. Source: sysctl(8), vm_stat(1), system_profiler(8).
"""

import re
from typing import Any

from .amd import json_in
from .device import Device, parse_count, sanitize
from .host import fields, number

SYSCTL = ("machdep.cpu.brand_string", "hw.memsize", "hw.ncpu", "hw.optional.arm64", "sysctl.proc_translated")
PROFILE = ("SPDisplaysDataType", "-json")
FREE = ("Pages free", "Pages inactive", "Pages speculative")
"""The lines of vm_stat that count as free memory: free pages, and pages freed on demand."""


def sysctl(text: str) -> dict[str, Any]:
    """Return the processor, cores and memory, whether it's Apple's, and whether this process runs translated."""
    found = fields(text)
    return {
        "cpu": found.get("machdep.cpu.brand_string"),
        "memory": number(found.get("hw.memsize", "")),
        "cores": number(found.get("hw.ncpu", "")),
        "apple": found.get("hw.optional.arm64") == "1",
        "translated": found.get("sysctl.proc_translated") == "1",
    }


def vm_stat(text: str) -> int | None:
    """Return the bytes of free memory.

    >>> vm_stat("(page size of 16384 bytes)\\nPages free: 10.\\nPages inactive: 5.\\nPages speculative: 1.\\n")
    262144
    """
    size = re.search(r"page size of ([0-9]{3,8}) bytes", text)
    pages = [number(fields(text).get(name, "").removesuffix(".")) for name in FREE]
    return int(size[1]) * sum(page for page in pages if page) if size and pages[0] is not None else None


def cards(text: str) -> list[Any]:
    """Return the graphics cards in `system_profiler SPDisplaysDataType -json`."""
    return list(json_in(text)["SPDisplaysDataType"])


def graphics(machine: dict[str, Any], profiles: list[Any], free: int | None) -> list[Device]:
    """Return Apple's GPU, which shares the machine's memory: from sysctl, with system_profiler's details if any."""
    if not machine.get("apple"):
        return []
    name, metal = machine["cpu"] or "Apple GPU", None
    for card in profiles:
        if isinstance(card, dict) and card.get("spdisplays_vendor") == "sppci_vendor_Apple":
            cores = number(str(card.get("sppci_cores", "")))
            name = f"{card.get('sppci_model') or name}" + (f" ({cores}-core GPU)" if cores else "")
            version = re.search(r"metal([0-9]+)$", str(card.get("spdisplays_mtlgpufamilysupport")))
            metal = f"Metal {version[1]}" if version else None
    return [Device("mlx", sanitize(name), parse_count(machine["memory"]), free, metal)]
