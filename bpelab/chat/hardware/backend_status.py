"""The status of each backend: which of its packages are installed, what they answered, and what would have to change.

Chapter: Chat on your hardware. Cost: microseconds; the packages were probed before.
"""

import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._support.install import install_command
from . import install
from .device import BackendStatus, Device, sanitize

PACKAGES = {
    "mlx": (("mlx", "mlx"), ("mlx-lm", "mlx_lm")),
    "llama_cpp": (("llama-cpp-python", "llama_cpp"),),
    "openvino": (("openvino", "openvino"), ("optimum-intel", "optimum"), ("torch", "torch")),
    "transformers": (("transformers", "transformers"), ("torch", "torch")),
    "reference": (("numpy", "numpy"),),
}
"""The packages that each backend imports, as pairs of distribution name and module."""
ASKED = {
    "mlx": "mlx",
    "llama_cpp": "llama_cpp",
    "openvino": "openvino",
    "transformers": "torch",
    "reference": "numpy",
}
"""The library that knows a backend's devices, by its name in `libraries.PROBES`."""
GGML = (
    (r"CUDA\d*", "cuda"),
    (r"(ROCm|HIP)\d*", "rocm"),
    (r"(Metal|MTL\d*)", "metal"),
    (r"Vulkan\d*", "vulkan"),
    (r"SYCL\d*", "sycl"),
    (r"CPU", "cpu"),
)
"""Patterns of llama.cpp's device names, and kinds of devices; models don't go on others (BLAS, RPC)."""


@dataclass(frozen=True)
class Facts:
    """The facts that determine the status of backends.

    Attributes:
        devices: the machine's devices.
        versions: the versions of installed packages, by distribution name.
        answers: the answers of libraries, by the names in `ASKED`; {"problem": ...} if something went wrong.
        tools: which of `install.TOOLS` are on the path.
        inaccessible: device files that this user may not open.
    """

    system: str
    architecture: str
    devices: Sequence[Device] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tools: Collection[str] = ()
    inaccessible: Sequence[str] = ()

    @property
    def kinds(self) -> set[str]:
        """The kinds of the machine's devices."""
        return {device.kind for device in self.devices}

    def names(self, *kinds: str) -> str:
        """Return the machine's devices of these kinds, each name once."""
        return ", ".join(dict.fromkeys(device.name for device in self.devices if device.kind in kinds))


def installed_version(package: str, module: str) -> str | None:
    """Return a package's version without importing it; None if it isn't installed.

    >>> installed_version("surely-not-installed", "surely_not_installed")
    """
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        found = None
    if found is None:
        return None
    try:
        return sanitize(importlib.metadata.version(package), 30)
    except Exception:  # metadata missing or broken: a folder of that name, or a copy without its records
        return "unknown version" if found.origin else None


def statuses(facts: Facts) -> tuple[BackendStatus, ...]:
    """Return the status of all backends, in the order of BACKENDS."""
    return tuple(_status(name, look, facts) for name, look in _LOOKS.items())


Look = Callable[[Facts, Mapping[str, Any]], tuple[list[str], str | None]]


def _status(name: str, look: Look, facts: Facts) -> BackendStatus:
    packages = [package for package, _ in PACKAGES[name]]
    version = facts.versions.get(packages[0])
    missing = [package for package in packages if package not in facts.versions]
    devices: list[str] = []
    problem: str | None = None
    if impossible := _impossible(name, facts):
        return BackendStatus(name, version, (), impossible, "")
    if missing:
        listed = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
        problem = f"{listed} {'is' if len(missing) == 1 else 'are'} not installed"
    else:
        answer = facts.answers.get(ASKED[name], {})
        if answer.get("unasked") and name == "reference":  # NumPy runs even where no process can start
            devices = ["cpu"]
        elif answer.get("problem"):
            problem = sanitize(answer["problem"], 300)
        else:
            try:
                devices, problem = look(facts, answer)
            except Exception as error:  # an answer that no known version gives
                problem = f"{packages[-1]} gave an answer that can't be read ({type(error).__name__})"
    mend = not missing and problem is not None and (not devices or name in ("llama_cpp", "transformers"))
    command, note = _command(name, facts, mend)
    return BackendStatus(name, version, tuple(devices), problem, command, note)


def _impossible(name: str, facts: Facts) -> str | None:
    if name != "mlx" or facts.system == "Linux" or (facts.system == "macOS" and facts.architecture == "arm64"):
        return None
    if "mlx" in facts.kinds:
        return "this Python is made for Intel's processors and is translated: MLX needs one for Apple's (arm64)"
    return f"MLX has no packages for {facts.system} on {facts.architecture}: it is for Apple Silicon and Linux"


def _command(name: str, facts: Facts, again: bool) -> tuple[str, str | None]:
    if name == "llama_cpp":
        return install.llama(facts.system, facts.kinds, facts.tools, again)
    if name == "transformers":
        return install.transformers(facts.system, facts.architecture, facts.kinds, again)
    extra = {"reference": "chat"}.get(name, name)
    return install_command(extra, pip="pip install --force-reinstall" if again else "pip install"), None


def _shown(kind: str, name: object) -> str:
    return f"{kind}: {sanitize(name, 80)}" if name else kind


def _transformers(facts: Facts, answer: Mapping[str, Any]) -> tuple[list[str], str | None]:
    devices = [_shown(device["kind"], device["name"]) for device in answer["devices"]] + ["cpu"]
    why = sanitize("; ".join(answer["why"]), 300) or "it doesn't say why"
    for kind, built in (("cuda", answer["cuda"]), ("rocm", answer["hip"])):
        if kind in facts.kinds and not any(device["kind"] == kind for device in answer["devices"]):
            if built is None:
                return devices, f"torch {sanitize(answer['version'])} was not built for {facts.names(kind)}"
            return (
                devices,
                f"torch {sanitize(answer['version'])}, built for {kind} {sanitize(built)}, can't use it: {why}",
            )
    return devices, None


def _llama(facts: Facts, answer: Mapping[str, Any]) -> tuple[list[str], str | None]:
    devices = []
    for device in answer.get("devices", ()):
        kind = next((kind for name, kind in GGML if re.fullmatch(name, device["name"])), None)
        if kind:
            devices.append("cpu" if kind == "cpu" else _shown(kind, device["description"]))
    if not devices:  # a version that doesn't list them
        devices = ["gpu", "cpu"] if answer["offload"] else ["cpu"]
    devices.sort(key=lambda device: device == "cpu")
    if devices == ["cpu"] and (names := facts.names("cuda", "rocm", "mlx", "vulkan")):
        if answer["offload"]:
            return devices, f"llama-cpp-python was built for a GPU and finds none, though there is {names}"
        return devices, f"llama-cpp-python was built for the CPU alone, and there is {names}"
    return devices, None


def _mlx(facts: Facts, answer: Mapping[str, Any]) -> tuple[list[str], str | None]:
    if answer["kind"] == "cpu":
        return ["cpu"], "MLX finds no GPU, though there is " + facts.names("mlx") if "mlx" in facts.kinds else None
    return [_shown(answer["kind"], answer["name"]), "cpu"], None


def _openvino(facts: Facts, answer: Mapping[str, Any]) -> tuple[list[str], str | None]:
    devices = []
    for device in answer["devices"]:
        kind = {"GPU": "openvino-gpu", "NPU": "openvino-npu", "CPU": "cpu"}.get(device["device"].partition(".")[0])
        if kind:
            devices.append("cpu" if kind == "cpu" else _shown(kind, device["name"]))
    devices.sort(key=lambda device: ("openvino-gpu", "openvino-npu", "cpu").index(device.partition(":")[0]))
    unseen = {"openvino-gpu", "openvino-npu"} & facts.kinds - {device.partition(":")[0] for device in devices}
    if not unseen:
        return devices, None
    problem = f"OpenVINO doesn't see {facts.names(*unseen)}"
    if facts.inaccessible:
        group = "sudo usermod -aG render $USER, then log in again"
        return devices, f"{problem}: this user may not open {', '.join(facts.inaccessible)} ({group})"
    return devices, f"{problem}: Intel's compute driver for it is not installed, or is too old"


def _reference(facts: Facts, answer: Mapping[str, Any]) -> tuple[list[str], str | None]:
    return ["cpu"] if answer["works"] else [], None if answer["works"] else "NumPy can't multiply"


_LOOKS: dict[str, Look] = {
    "mlx": _mlx,
    "llama_cpp": _llama,
    "openvino": _openvino,
    "transformers": _transformers,
    "reference": _reference,
}
