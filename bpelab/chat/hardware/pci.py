"""GPUs and NPUs on Linux's PCI bus, which lists them whether or not anything is installed that could use them.

Their names are in the list of PCI ids that most distributions have; without it the ids stand for them. AMD's driver
also says how much memory a GPU has. Chapter: Chat on your hardware. Sources: Linux's Documentation/ABI/testing/
sysfs-bus-pci and Documentation/gpu/amdgpu/driver-misc.rst; the PCI ID repository.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from .device import Device, parse_count, sanitize
from .host import ROOT, read

CLASSES = ("03", "1200")
"""The beginnings of PCI's classes of display controllers and of processing accelerators."""
VENDORS = {"10de": "NVIDIA", "1002": "AMD", "8086": "Intel"}
LISTS = ("usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids", "usr/share/pci.ids")
DEVICE_FILES = {"rocm": ("dev/kfd",), "openvino-gpu": ("dev/dri/renderD*",), "openvino-npu": ("dev/accel/accel*",)}
"""Kind of device -> the files by which programs use it."""
MISSING = {
    "cuda": "install NVIDIA's driver, or pass the GPU to this container",
    "rocm": "load the driver amdgpu, or pass /dev/kfd to this container",
}


class Card(NamedTuple):
    """A device on the bus, and what keeps programs from using it, if anything."""

    device: Device
    obstacle: str | None = None


def cards(root: Path = ROOT) -> list[Card]:
    """Return the devices of the three vendors; NVIDIA's as not usable, since its driver would list those that are."""
    listed = []
    for folder in sorted((root / "sys/bus/pci/devices").glob("*")):
        category, vendor, number = (_id(folder / name) for name in ("class", "vendor", "device"))
        if not category.startswith(CLASSES) or vendor not in VENDORS:
            continue
        intel = "openvino-gpu" if category.startswith("03") else "openvino-npu"
        kind = {"10de": "cuda", "1002": "rocm"}.get(vendor, intel)
        link = folder / "driver"
        driver = os.path.basename(os.path.realpath(link)) if os.path.exists(link) else None
        total, used = (parse_count(read(folder / f"mem_info_vram_{what}"), least=0) for what in ("total", "used"))
        free = total - used if total and used is not None and used <= total else None
        name = f"{VENDORS[vendor]} {_name(vendor, number, root) or f'{vendor}:{number}'}"
        listed.append(Card(Device(kind, sanitize(name), total or None, free, driver), _obstacle(kind, driver, root)))
    return listed


def _obstacle(kind: str, driver: str | None, root: Path) -> str | None:
    files = [path for pattern in DEVICE_FILES.get(kind, ()) for path in sorted(root.glob(pattern))]
    if kind == "cuda" or (kind == "rocm" and (driver != "amdgpu" or not files)):
        return MISSING[kind]
    closed = ["/" + str(path.relative_to(root)) for path in files if not os.access(path, os.R_OK | os.W_OK)]
    if not closed:
        return None
    return f"this user may not open {', '.join(closed)} (sudo usermod -aG render $USER, then log in again)"


def _id(file: Path) -> str:
    return read(file).strip().removeprefix("0x")


def _name(vendor: str, number: str, root: Path) -> str | None:
    """Return a device's name from the list of PCI ids: a vendor's line, followed by indented lines of its devices."""
    entry = re.compile(rf"^{vendor}  .*\n(?:[\t#].*\n)*?\t{re.escape(number)}  (.+)$", re.MULTILINE)
    for path in LISTS:
        try:
            match = entry.search((root / path).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if match:
            return match[1]
    return None
