"""GPUs that Vulkan can use, from `vulkaninfo --summary`.

Vulkan also lists software implementations (llvmpipe, SwiftShader) as devices; they are the processor under another
name, slower than using it directly, and don't count. Chapter: Chat on your hardware. Source: Vulkan-Tools.
"""

import re

from .device import Device, sanitize
from .host import fields

ARGUMENTS = ("--summary",)
SOFTWARE = re.compile(r"llvmpipe|lavapipe|swiftshader|softpipe|basic render", re.IGNORECASE)


def vulkan(text: str) -> list[Device]:
    """Return the hardware devices in the summary, each once."""
    found: dict[tuple[str, ...], Device] = {}
    for index, block in enumerate(re.split(r"^GPU[0-9]+:\s*$", text, flags=re.MULTILINE)[1:]):
        about = fields(block, "=")
        name = about.get("deviceName", "")
        if not name or about.get("deviceType", "").endswith("_TYPE_CPU"):
            continue
        if SOFTWARE.search(name) or SOFTWARE.search(about.get("driverName", "")):
            continue
        driver = sanitize(f"{about.get('driverName', '')} {about.get('driverInfo', '')}")
        # Some versions list a device twice (KhronosGroup/Vulkan-Tools, issue 1195); two equal cards have two UUIDs.
        key = (name, about.get("deviceUUID", str(index)))
        found.setdefault(key, Device("vulkan", sanitize(name), driver=driver or None))
    return list(found.values())
