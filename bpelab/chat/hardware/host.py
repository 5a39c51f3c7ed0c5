"""The machine probe: run as a program, this file prints the processor, the memory and the devices on the PCI bus.

Cores and memory are those that this process may use: a container, a batch system or `taskset` can allow it less than
the machine has. The file imports nothing from this package, so it runs as `python host.py`.

Chapter: Chat on your hardware. Sources: proc(5), cgroups(7), Linux's Documentation/admin-guide/cgroup-v2.rst.
"""

import json
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MARK = "bpelab-probe:"
ROOT = Path("/")
CPU_NAMES = ("model name", "Model", "Hardware", "cpu model", "cpu")
DEVICE_FILES = ("dev/kfd", "dev/dri/renderD*", "dev/accel/accel*")


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


def fields(text: str, mark: str = ":") -> dict[str, str]:
    """Parse `name: value` lines; of repeated names the first counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, there, value = line.partition(mark)
        if there:
            found.setdefault(name.strip(), value.strip())
    return found


def cpu_name(root: Path = ROOT) -> str | None:
    """Return the processor's name according to Linux; None on many ARM machines."""
    found = fields(read(root / "proc/cpuinfo"))
    return next((found[name] for name in CPU_NAMES if found.get(name)), None)


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


def memory(root: Path = ROOT) -> tuple[int | None, int | None]:
    """Return the bytes of memory that this process may use, and how many of them are free, on Linux."""
    sizes = {name: number(value.removesuffix("kB")) for name, value in fields(read(root / "proc/meminfo")).items()}
    total, free = (None if size is None else size * 1024 for size in (sizes.get("MemTotal"), sizes.get("MemAvailable")))
    for folder in control_groups("memory", root):
        for most, used, cache in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            limit, now = number(read(folder / most)), number(read(folder / used))
            if limit is None or (total is not None and limit >= total):
                continue
            total = limit
            if now is not None:
                dropped = number(fields(read(folder / "memory.stat"), " ").get(cache, "")) or 0
                left = max(0, limit - now + dropped)
                free = left if free is None else min(free, left)
    return total, free


def cores(root: Path = ROOT) -> int:
    """Return how many processors this process may use at once; a share such as 1.5 is rounded down."""
    try:
        found = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        found = os.cpu_count() or 1
    for folder in control_groups("cpu", root):
        quota, _, period = read(folder / "cpu.max").partition(" ")
        if not period:
            quota, period = read(folder / "cpu.cfs_quota_us"), read(folder / "cpu.cfs_period_us")
        share, whole = number(quota), number(period)
        if share and whole:
            found = min(found, max(1, share // whole))
    return found


def pci(root: Path = ROOT) -> list[dict[str, str | None]]:
    """Return the display controllers and accelerators on the PCI bus by their ids, which need no driver."""
    found = []
    for folder in sorted((root / "sys/bus/pci/devices").glob("*")):
        kind = read(folder / "class").strip().removeprefix("0x")
        if kind[:2] == "03" or kind[:4] == "1200":
            vendor, device = (read(folder / name).strip().removeprefix("0x") for name in ("vendor", "device"))
            driver = folder / "driver"
            name = driver.resolve().name if driver.exists() else None
            found.append({"class": kind, "vendor": vendor, "device": device, "driver": name})
    return found


def kfd(root: Path = ROOT) -> list[dict[str, Any]]:
    """Return AMD GPUs from KFD, the compute part of Linux's driver, which works without ROCm's tools."""
    found = []
    for node in sorted((root / "sys/class/kfd/kfd/topology/nodes").glob("*")):
        values = fields(read(node / "properties"), " ")
        if number(values.get("simd_count", "")):
            version = number(values.get("gfx_target_version", "")) or 0
            name = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}" if version else None
            bank = fields(read(node / "mem_banks/0/properties"), " ")
            found.append({"name": name, "memory": number(bank.get("size_in_bytes", ""))})
    return found


def inaccessible_devices(root: Path = ROOT) -> list[str]:
    """Return the existing device files of accelerators that this user may not open."""
    there = [path for pattern in DEVICE_FILES for path in sorted(root.glob(pattern))]
    return ["/" + str(path.relative_to(root)) for path in there if not os.access(path, os.R_OK | os.W_OK)]


def windows_memory(status: bytes) -> tuple[int, int]:
    """Return total and free bytes from Windows' MEMORYSTATUSEX."""
    _, _, total, free, *_ = struct.unpack("<LLQQQQQQQ", status)
    return total, free


def windows() -> dict[str, Any]:
    """Return what Windows reports in its registry and, through ctypes, its kernel."""
    found: dict[str, Any] = {"cores": os.cpu_count() or 1, "architecture": os.environ.get("PROCESSOR_ARCHITECTURE")}
    if sys.platform == "win32":
        import ctypes
        import winreg

        kernel = ctypes.WinDLL("kernel32")
        status = ctypes.create_string_buffer(struct.pack("<L", 64), 64)
        if kernel.GlobalMemoryStatusEx(status):
            found["memory"], found["free"] = windows_memory(status.raw)
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        mine, all_of_them = ctypes.c_size_t(), ctypes.c_size_t()
        here = ctypes.c_void_p(kernel.GetCurrentProcess())
        if kernel.GetProcessAffinityMask(here, ctypes.byref(mine), ctypes.byref(all_of_them)) and mine.value:
            found["cores"] = mine.value.bit_count()
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"HARDWARE\DESCRIPTION\System\CentralProcessor\0") as key:
            found["cpu"] = winreg.QueryValueEx(key, "ProcessorNameString")[0]
    return found


def describe(root: Path = ROOT) -> dict[str, Any]:
    """Return everything above for Linux; on a Mac, only what needs no extra tool."""
    total, free = memory(root)
    found = {"cpu": cpu_name(root), "cores": cores(root), "memory": total, "free": free}
    return found | {
        "pci": pci(root),
        "kfd": kfd(root),
        "closed": inaccessible_devices(root),
        "architecture": os.uname().machine,
    }


if __name__ == "__main__":
    print("\n" + MARK + json.dumps(windows() if sys.platform == "win32" else describe()))
