"""Survey a machine: choose the probes for its system, and interpret their output.

Chapter: Chat on your hardware. Cost: microseconds, apart from the probes themselves.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import amd, apple, host, libraries, nvidia, vulkan
from .backend_status import ASKED, PACKAGES, Facts, statuses
from .device import BackendStatus, Device, parse_count, sanitize
from .processes import ProbeOutput

SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows", "emscripten": "a browser"}
FOLDERS = ("/opt/rocm/bin", "/usr/lib/wsl/lib", "/usr/local/cuda/bin", r"C:\Windows\System32")
"""Folders of tools that may not be on the path."""
ROCM = {"rocm-smi": amd.rocm_smi, "amd-smi": amd.amd_smi, "rocminfo": amd.rocminfo}
"""Tools for AMD's GPUs; the first that finds any is used."""


class MachineFacts(NamedTuple):
    """The facts about a machine, in the order of `Machine`'s fields."""

    system: str
    cpu: str
    cores: int
    memory_bytes: int | None
    free_bytes: int | None
    devices: tuple[Device, ...]
    backends: tuple[BackendStatus, ...]
    architecture: str
    problems: tuple[str, ...]


def find_tool(name: str) -> str | None:
    """Return the path of a program, None if there is none."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(FOLDERS))


def probe_commands(system: str, versions: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the probe commands by name, for the tools on this machine and the packages that are installed."""
    tools: dict[str, tuple[str, ...]] = {"nvidia-smi": nvidia.ARGUMENTS, "vulkaninfo": vulkan.ARGUMENTS}
    if system == "Linux":
        tools |= {"rocm-smi": amd.ROCM_SMI, "amd-smi": amd.AMD_SMI, "rocminfo": ()}
    elif system == "macOS":
        tools = {"sysctl": apple.SYSCTL, "vm_stat": (), "system_profiler": apple.PROFILE}
    asked = {name: [path, *arguments] for name, arguments in tools.items() if (path := find_tool(name))}
    if sys.executable and not getattr(sys, "frozen", False):  # in a frozen program this would start the program again
        python = [sys.executable, "-P"]
        asked["host"] = [*python, str(Path(host.__file__))]
        for backend, library in ASKED.items():
            if all(package in versions for package, _ in PACKAGES[backend]):
                asked[library] = [*python, str(Path(libraries.__file__)), library]
    return asked


class _Answers:
    """Parses the output of probes, and collects their problems."""

    def __init__(self, outputs: Mapping[str, ProbeOutput]) -> None:
        self.outputs = outputs
        self.problems: list[str] = []

    def read(self, name: str, parse: Callable[[str], Any], otherwise: Any) -> Any:
        """Return an answer, parsed by `parse`; `otherwise` if it's missing or can't be parsed."""
        answer = self.outputs.get(name)
        if answer is None:
            return otherwise
        try:
            found = parse(answer.text)
        except Exception:  # a broken tool can print anything
            found = None
        if answer.problem and not (answer.mild and found):
            self.problems.append(nvidia.advice(answer.problem) if name == "nvidia-smi" else answer.problem)
        elif found is None or (found == [] and answer.text.strip() and name == "nvidia-smi"):
            self.problems.append(f"{name} printed what it should not: {sanitize(answer.text, 60) or 'nothing'}")
        return otherwise if found is None else found

    def library(self, name: str) -> Mapping[str, Any]:
        """Return a library's answer; if the probe failed, only the problem, for the status of its backend."""
        answer = self.outputs.get(name) or ProbeOutput(
            problem=f"{name} can't be asked: this program starts no Python", started=False
        )
        if not answer.started:
            return {"problem": answer.problem, "unasked": True}
        try:
            return parse_marked(answer.text)
        except Exception:
            return {"problem": answer.problem or f"{name} gave no answer: {sanitize(answer.text[-200:]) or 'nothing'}"}


def parse_marked(text: str) -> dict[str, Any]:
    """Return the JSON object after our last mark. Raises ValueError if there is none."""
    found = json.loads(text.rpartition("\n" + host.MARK)[2] if host.MARK in text else "")
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def parse_outputs(
    system: str, outputs: Mapping[str, ProbeOutput], versions: Mapping[str, str], tools: Collection[str] = ()
) -> MachineFacts:
    """Return a machine's facts from the output of its probes; whatever can't be parsed becomes a problem.

    >>> parse_outputs("Linux", {}, {}).cores == os.cpu_count()
    True
    """
    answers = _Answers(outputs)
    here = answers.read("host", parse_marked, {})
    mac = answers.read("sysctl", apple.sysctl, {})
    here |= {name: value for name, value in mac.items() if value}
    if "vm_stat" in outputs:
        here["free"] = answers.read("vm_stat", apple.vm_stat, None)
    architecture = sanitize(here.get("architecture") or "unknown architecture", 30)
    cpu = sanitize(here.get("cpu") or f"CPU of {architecture}", 80)
    memory, free = parse_count(here.get("memory")), parse_count(here.get("free"), least=0)
    devices = [Device("cpu", cpu, memory, free)]
    devices += answers.read("nvidia-smi", nvidia.nvidia, [])
    by_tool = [answers.read(name, parse, []) for name, parse in ROCM.items()]
    devices += next((found for found in by_tool if found), amd.kfd(here.get("kfd", ())))
    devices += apple.graphics(mac, answers.read("system_profiler", apple.cards, []), free)
    devices += answers.read("vulkaninfo", vulkan.vulkan, [])
    asked = {library: answers.library(library) for library in ASKED.values()}
    devices += _devices_from_libraries(asked)
    devices += _devices_from_pci(here.get("pci", ()), devices, "nvidia-smi" in outputs, answers.problems)
    inaccessible = [sanitize(name) for name in here.get("closed", ())]
    facts = Facts(system, architecture, devices, versions, asked, tools, inaccessible)
    cores = parse_count(here.get("cores")) or os.cpu_count() or 1
    problems = tuple(dict.fromkeys(answers.problems))
    return MachineFacts(system, cpu, cores, memory, free, tuple(devices), statuses(facts), architecture, problems)


def _devices_from_libraries(answers: Mapping[str, Mapping[str, Any]]) -> list[Device]:
    """Return Intel's devices, which no tool lists, as OpenVINO and PyTorch see them."""
    found = []
    for device in _listed(answers["openvino"]):
        kind = {"GPU": "openvino-gpu", "NPU": "openvino-npu"}.get(str(device.get("device")).partition(".")[0])
        if kind:
            found.append(Device(kind, sanitize(device.get("name")), parse_count(device.get("memory"))))
    for device in _listed(answers["torch"]):
        if device.get("kind") == "xpu":
            found.append(Device("xpu", sanitize(device.get("name")), parse_count(device.get("memory"))))
    return found


def _listed(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    devices = answer.get("devices")
    return [device for device in devices if isinstance(device, Mapping)] if isinstance(devices, list) else []


def _devices_from_pci(bus: Any, known: list[Device], nvidia_smi: bool, problems: list[str]) -> list[Device]:
    """Return Intel's devices that only the PCI bus shows, and add problems for other makers' such devices."""
    kinds = {device.kind for device in known}
    found = []
    for entry in bus:
        number, driver = f"{entry['vendor']}:{entry['device']}", entry["driver"]
        if entry["vendor"] == "8086":
            kind, name = ("openvino-gpu", "GPU") if entry["class"].startswith("03") else ("openvino-npu", "NPU")
            if kind not in kinds:
                found.append(Device(kind, f"Intel {name} {number}", driver=driver))
        elif entry["vendor"] == "10de" and "cuda" not in kinds and not nvidia_smi:
            what = "install NVIDIA's driver, or pass the GPU to this container"
            problems.append(f"an NVIDIA GPU ({number}) is in this machine, and nvidia-smi is not: {what}")
        elif entry["vendor"] == "1002" and "rocm" not in kinds:
            what = "load the driver amdgpu, or pass /dev/kfd to this container"
            problems.append(f"an AMD GPU ({number}) is in this machine, and can't be used for computing: {what}")
    return found
