"""The status of each backend: which of its packages are installed, which devices its engine lists, and what to change.

An engine knows best which devices it can use. What is added here is the comparison with the devices that the machine
has: a GPU that an engine doesn't list is a problem, with a command that repairs it.

Chapter: Chat on your hardware. Cost: microseconds; the engines were asked before.
"""

import importlib.metadata
import importlib.util
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .device import BackendStatus, Device, parse_count, sanitize
from .install import install

if TYPE_CHECKING:
    from .machine import Machine


class Engine(NamedTuple):
    """What a backend needs, and what it could use.

    Attributes:
        packages: its packages, as distribution name -> module. The first one's version is the backend's.
        library: the distribution that knows the devices; its module is the name in `libraries.PROBES`.
        uses: groups of kinds of devices; it should list one of each group of which the machine has any.
    """

    packages: Mapping[str, str]
    library: str
    uses: tuple[set[str], ...] = ()

    @property
    def probe(self) -> str:
        """The name of the library in `libraries.PROBES`."""
        return self.packages[self.library]


ENGINES = {
    "mlx": Engine({"mlx": "mlx", "mlx-lm": "mlx_lm"}, "mlx", ({"metal"},)),
    "llama_cpp": Engine(
        {"llama-cpp-python": "llama_cpp"}, "llama-cpp-python", ({"cuda", "rocm", "metal", "vulkan", "sycl"},)
    ),
    "openvino": Engine(
        {"openvino": "openvino", "optimum-intel": "optimum", "torch": "torch"},
        "openvino",
        ({"openvino-gpu"}, {"openvino-npu"}),
    ),
    "transformers": Engine({"transformers": "transformers", "torch": "torch"}, "torch", ({"cuda", "rocm"},)),
    "reference": Engine({"numpy": "numpy"}, "numpy"),
}
"""Each backend's engine."""


def installed_versions() -> dict[str, str]:
    """Return the versions of the installed packages of `ENGINES`, by distribution name."""
    packages = {name: module for engine in ENGINES.values() for name, module in engine.packages.items()}
    return {name: version for name, module in packages.items() if (version := installed_version(name, module))}


def installed_version(package: str, module: str) -> str | None:
    """Return a package's version without importing it; None if it isn't installed.

    >>> installed_version("surely-not-installed", "surely_not_installed")
    """
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return None
    try:
        return sanitize(importlib.metadata.version(package), 30)
    except Exception:  # metadata missing or broken: a folder of that name, or a copy without its records
        return "unknown version" if spec.origin else None


def listed_devices(answer: Mapping[str, Any]) -> Iterator[Device]:
    """Yield the devices in a library's answer. A device without a name has the name ""."""
    devices = answer.get("devices")
    for device in devices if isinstance(devices, list) else ():
        if isinstance(device, Mapping) and device.get("kind"):
            name = sanitize(device.get("name") or "", 80)
            yield Device(sanitize(device["kind"], 20), name, parse_count(device.get("memory")))


def backend_status(
    name: str,
    machine: "Machine",
    versions: Mapping[str, str],
    answer: Mapping[str, Any],
    compilers: Collection[str] = (),
) -> BackendStatus:
    """Return the status of a backend on a machine.

    Args:
        name: one of ENGINES.
        versions: the versions of installed packages, by distribution name.
        answer: what `libraries` answered for its engine; {"problem": ...} if something went wrong.
        compilers: which of `install.TOOLS` are on the path.
    """
    engine = ENGINES[name]
    version = versions.get(next(iter(engine.packages)))
    if obstacle := _unsupported(name, machine):
        return BackendStatus(name, version, (), obstacle, "")
    devices: tuple[str, ...] = ()
    missing = [package for package in engine.packages if package not in versions]
    if missing:
        listed = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
        problem: str | None = f"{listed} {'is' if len(missing) == 1 else 'are'} not installed"
    else:
        devices = tuple(map(str, listed_devices(answer)))
        problem = _problem(engine, answer, machine, versions[engine.library])
    repair = not missing and problem is not None and (not devices or name in ("llama_cpp", "transformers"))
    return BackendStatus(name, version, devices, problem, *install(name, machine, compilers, repair))


def _problem(engine: Engine, answer: Mapping[str, Any], machine: "Machine", version: str) -> str | None:
    """Return what keeps an installed engine from running, or from using a device that the machine has."""
    if answer.get("problem"):
        return sanitize(answer["problem"], 300)
    kinds = {device.kind for device in listed_devices(answer)}
    unused = [group for group in engine.uses if not group & kinds]
    names = dict.fromkeys(device.name for group in unused for device in machine.devices if device.kind in group)
    if kinds and not names:
        return None
    subject = f"{engine.library} {version}" + (f", built for {sanitize(answer['built'])}," if "built" in answer else "")
    why = sanitize(answer.get("why") or "", 300)
    return f"{subject} can't use {', '.join(names) or 'any device'}{why and f': {why}'}"


def _unsupported(name: str, machine: "Machine") -> str | None:
    system, architecture = machine.system, machine.architecture
    if name != "mlx" or system == "Linux" or (system == "macOS" and architecture == "arm64"):
        return None
    if any(device.kind == "metal" for device in machine.devices):
        return "this Python is made for Intel's processors and is translated: MLX needs one for Apple's (arm64)"
    return f"MLX has no packages for {system} on {architecture}: it is for Apple Silicon and Linux"
