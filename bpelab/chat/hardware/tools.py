"""What drivers' tools print: NVIDIA's, Vulkan's, and a Mac's sysctl.

Each is asked by its command in `COMMANDS`, and what it prints is parsed. Vulkan also lists software implementations
(llvmpipe, SwiftShader) as devices: they are the processor under another name, slower than it is, and don't count.

Chapter: Chat on your hardware. Sources: `nvidia-smi --help-query-gpu`, Vulkan-Tools, sysctl(8).
"""

import os
import re
import shutil
from typing import NamedTuple

from .device import MIB, Device, fields, parse_count, sanitize

COMMANDS = {
    "nvidia-smi": ("--query-gpu=name,memory.total,memory.free,driver_version", "--format=csv,noheader,nounits"),
    "vulkaninfo": ("--summary",),
    "sysctl": ("machdep.cpu.brand_string", "hw.optional.arm64"),
}
"""Each tool -> its arguments."""
FOLDERS = ("/usr/lib/wsl/lib", "/usr/local/cuda/bin", "/opt/rocm/bin", r"C:\Windows\System32")
"""Folders of tools that may not be on the path."""
ADVICE = (
    ("version mismatch", "the driver was updated since the machine started: restart it"),
    ("couldn't communicate", "the driver is not loaded: install it, or restart after installing it"),
    ("Insufficient Permissions", "this user may not open /dev/nvidia*"),
    ("Unknown Error", "restart the container or the machine"),
)
"""Words in error messages of nvidia-smi, and what to do about them."""
SOFTWARE = re.compile(r"llvmpipe|lavapipe|swiftshader|softpipe|basic render", re.IGNORECASE)
_UNKNOWN = r"\[[^\],]*\]|N/A"
_GPU = re.compile(rf"(.{{1,200}}?), *([0-9]+|{_UNKNOWN}), *([0-9]+|{_UNKNOWN}), *([0-9][0-9.]*|{_UNKNOWN})", re.ASCII)


class Mac(NamedTuple):
    """A Mac's processor, and whether it is Apple's, also where this Python is made for Intel's and is translated."""

    cpu: str | None
    apple: bool


def find_tool(name: str) -> str | None:
    """Return the path of a program, None if there is none."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(FOLDERS))


def nvidia_smi(text: str) -> list[Device]:
    """Return one device for each line of CSV.

    >>> nvidia_smi("NVIDIA H200, 143771, 143155, 570.86.15\\n")[0]
    Device(kind='cuda', name='NVIDIA H200', memory_bytes=150754820096, free_bytes=150108897280, driver='570.86.15')
    """
    devices = []
    for match in filter(None, (_GPU.fullmatch(line.strip()) for line in text.splitlines())):
        name, total, free, driver = match.groups()
        version = driver if driver[0].isdigit() else None
        devices.append(Device("cuda", sanitize(name), parse_count(total, MIB), parse_count(free, MIB, 0), version))
    return devices


def advice(problem: str) -> str:
    """Return a problem of nvidia-smi and, if it's a known one, what to do about it."""
    return next((f"{problem}: {words}" for known, words in ADVICE if known in problem), problem)


def vulkaninfo(text: str) -> list[Device]:
    """Return the hardware devices in the summary, each once."""
    devices: dict[tuple[str, str], Device] = {}
    for index, block in enumerate(re.split(r"^GPU[0-9]+:\s*$", text, flags=re.MULTILINE)[1:]):
        about = fields(block, "=")
        name, driver = about.get("deviceName", ""), about.get("driverName", "")
        if not name or about.get("deviceType", "").endswith("_TYPE_CPU") or SOFTWARE.search(f"{name} {driver}"):
            continue
        # Some versions list a device twice (KhronosGroup/Vulkan-Tools, issue 1195); two equal cards have two UUIDs.
        key = (name, about.get("deviceUUID", str(index)))
        version = sanitize(f"{driver} {about.get('driverInfo', '')}")
        devices.setdefault(key, Device("vulkan", sanitize(name), driver=version or None))
    return list(devices.values())


def sysctl(text: str) -> Mac:
    """Return a Mac's processor.

    >>> sysctl("machdep.cpu.brand_string: Apple M2 Max\\nhw.optional.arm64: 1\\n")
    Mac(cpu='Apple M2 Max', apple=True)
    """
    values = fields(text)
    return Mac(values.get("machdep.cpu.brand_string"), values.get("hw.optional.arm64") == "1")
