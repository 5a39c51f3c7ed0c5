"""AMD's GPUs, from whichever of ROCm's tools is installed (rocm-smi, amd-smi, rocminfo), or from Linux's own list.

Only rocm-smi reports free memory, so it comes first. Chapter: Chat on your hardware. Source: ROCm's documentation of
these tools, and their output as users report it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from .device import MIB, Device, parse_count, sanitize

ROCM_SMI = ("--showproductname", "--showmeminfo", "vram", "--showdriverversion", "--json")
AMD_SMI = ("static", "--asic", "--vram", "--driver", "--json")
NAMES = ("card series", "card model", "device name", "gfx version")
PARTS = ("asic", "vram", "driver")
UNITS = {"B": 1, "KB": 1 << 10, "MB": MIB, "GB": 1 << 30}
_SIZE = re.compile(r"^\s+Size:\s+([0-9]{1,15})\(0x[0-9a-f]+\) KB", re.MULTILINE | re.ASCII)
_FIELD = re.compile(r"^  ([A-Z][A-Za-z ]{1,30}):[ \t]+(\S.*?)\s*$", re.MULTILINE)


def json_in(text: str) -> Any:
    """Parse the first JSON object or list that starts a line, since warnings may precede it. Raises ValueError."""
    start = re.search(r"^\s*[{\[]", text, re.MULTILINE)
    if start is None:
        raise ValueError("no JSON")
    return json.JSONDecoder().raw_decode(text[start.end() - 1 :])[0]


def rocm_smi(text: str) -> list[Device]:
    """Return the cards in `rocm-smi --json`, whose old and new versions capitalize keys differently."""
    data = json_in(text)
    driver = data.get("system", {}).get("Driver version")
    found = []
    for key, card in data.items():
        if re.fullmatch(r"card[0-9]+", key):
            values = {name.lower(): value for name, value in card.items()}
            names = (str(values.get(name, "N/A")) for name in NAMES)
            name = next((name for name in names if not name.startswith(("N/A", "0x"))), "AMD GPU")
            total, used = (parse_count(values.get(f"vram total {what}memory (b)"), 1, 0) for what in ("", "used "))
            free = total - used if total and used is not None and used <= total else None
            found.append(Device("rocm", sanitize(name), total or None, free, sanitize(driver) if driver else None))
    return found


def amd_smi(text: str) -> list[Device]:
    """Return the GPUs in `amd-smi static --json`: a list, or since ROCm 7 a list under "gpu_data"."""
    data = json_in(text)
    found = []
    for gpu in data["gpu_data"] if isinstance(data, Mapping) else data:
        asic, vram, driver = (gpu[part] if isinstance(gpu.get(part), Mapping) else {} for part in PARTS)
        name, size = str(asic.get("market_name", "N/A")), vram.get("size")
        known = isinstance(size, Mapping) and size.get("unit") in UNITS
        memory = parse_count(size["value"], UNITS[size["unit"]]) if known else None
        version = driver.get("version") or driver.get("driver_version")
        shown = "AMD GPU" if name == "N/A" else sanitize(name)
        found.append(Device("rocm", shown, memory, None, sanitize(version) if version else None))
    return found


def rocminfo(text: str) -> list[Device]:
    """Return the GPU agents in rocminfo's output; an agent's first pool is its memory."""
    found = []
    for agent in re.split(r"^Agent [0-9]+\s*$", text, flags=re.MULTILINE)[1:]:
        values = dict(reversed(_FIELD.findall(agent)))  # the first of repeated fields counts
        if values.get("Device Type") == "GPU":
            size = _SIZE.search(agent)
            name = values.get("Marketing Name") or values.get("Name") or "AMD GPU"
            found.append(Device("rocm", sanitize(name), parse_count(size[1], 1024) if size else None))
    return found


def kfd(nodes: Any) -> list[Device]:
    """Return devices for the nodes that `host.kfd` lists."""
    return [
        Device("rocm", f"AMD GPU {sanitize(node['name'] or '')}".strip(), parse_count(node["memory"])) for node in nodes
    ]
