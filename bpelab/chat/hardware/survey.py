"""Which questions are asked on which system, and what all the answers together say about a machine.

Chapter: Chat on your hardware. Cost: microseconds beside the answers themselves.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import amd, apple, host, libraries, nvidia, vulkan
from .backends import ASKED, PACKAGES, Facts, statuses
from .parts import BackendStatus, Device, count, plain
from .processes import Said

SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows", "emscripten": "a browser"}
FOLDERS = ("/opt/rocm/bin", "/usr/lib/wsl/lib", "/usr/local/cuda/bin", r"C:\Windows\System32")
"""Where tools are that are not on everybody's path."""
ROCM = {"rocm-smi": amd.rocm_smi, "amd-smi": amd.amd_smi, "rocminfo": amd.rocminfo}
"""Tools for AMD's GPUs; the first that sees any is believed."""


class Found(NamedTuple):
    """A machine, in the order of `Machine`'s fields."""

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
    """The path of a program, None if there is none."""
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(FOLDERS))


def questions(system: str, versions: Mapping[str, str]) -> dict[str, list[str]]:
    """The commands to run, by the names of their answers: the tools that are there, the packages that are installed."""
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
    """The answers as they are read, and the problems that come up."""

    def __init__(self, said: Mapping[str, Said]) -> None:
        self.said = said
        self.problems: list[str] = []

    def read(self, name: str, parse: Callable[[str], Any], otherwise: Any) -> Any:
        """What `parse` makes of an answer; `otherwise` if there is none, or none that can be read."""
        answer = self.said.get(name)
        if answer is None:
            return otherwise
        try:
            found = parse(answer.text)
        except Exception:  # a broken tool can print anything
            found = None
        if answer.problem and not (answer.mild and found):
            self.problems.append(nvidia.advice(answer.problem) if name == "nvidia-smi" else answer.problem)
        elif found is None or (found == [] and answer.text.strip() and name == "nvidia-smi"):
            self.problems.append(f"{name} printed what it should not: {plain(answer.text, 60) or 'nothing'}")
        return otherwise if found is None else found

    def library(self, name: str) -> Mapping[str, Any]:
        """What a library answered; what went wrong is a problem of its backend."""
        answer = self.said.get(name) or Said(
            problem=f"{name} can't be asked: this program starts no Python", started=False
        )
        if not answer.started:
            return {"problem": answer.problem, "unasked": True}
        try:
            return marked(answer.text)
        except Exception:
            return {"problem": answer.problem or f"{name} gave no answer: {plain(answer.text[-200:]) or 'nothing'}"}


def marked(text: str) -> dict[str, Any]:
    """The JSON object behind the last mark of ours. ValueError if there is none."""
    found = json.loads(text.rpartition("\n" + host.MARK)[2] if host.MARK in text else "")
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def understand(
    system: str, said: Mapping[str, Said], versions: Mapping[str, str], tools: Collection[str] = ()
) -> Found:
    """A machine by what its tools and libraries said; what can't be understood becomes a problem.

    >>> understand("Linux", {}, {}).cores == os.cpu_count()
    True
    """
    answers = _Answers(said)
    here = answers.read("host", marked, {})
    mac = answers.read("sysctl", apple.sysctl, {})
    here |= {name: value for name, value in mac.items() if value}
    if "vm_stat" in said:
        here["free"] = answers.read("vm_stat", apple.vm_stat, None)
    architecture = plain(here.get("architecture") or "unknown architecture", 30)
    cpu = plain(here.get("cpu") or f"CPU of {architecture}", 80)
    memory, free = count(here.get("memory")), count(here.get("free"), least=0)
    devices = [Device("cpu", cpu, memory, free)]
    devices += answers.read("nvidia-smi", nvidia.nvidia, [])
    by_tool = [answers.read(name, parse, []) for name, parse in ROCM.items()]
    devices += next((found for found in by_tool if found), amd.kfd(here.get("kfd", ())))
    devices += apple.graphics(mac, answers.read("system_profiler", apple.cards, []), free)
    devices += answers.read("vulkaninfo", vulkan.vulkan, [])
    asked = {library: answers.library(library) for library in ASKED.values()}
    devices += _by_libraries(asked)
    devices += _by_numbers(here.get("pci", ()), devices, "nvidia-smi" in said, answers.problems)
    closed = [plain(name) for name in here.get("closed", ())]
    facts = Facts(system, architecture, devices, versions, asked, tools, closed)
    cores = count(here.get("cores")) or os.cpu_count() or 1
    problems = tuple(dict.fromkeys(answers.problems))
    return Found(system, cpu, cores, memory, free, tuple(devices), statuses(facts), architecture, problems)


def _by_libraries(answers: Mapping[str, Mapping[str, Any]]) -> list[Device]:
    """Intel's devices, which no tool lists: those that OpenVINO and PyTorch see."""
    found = []
    for device in _listed(answers["openvino"]):
        kind = {"GPU": "openvino-gpu", "NPU": "openvino-npu"}.get(str(device.get("device")).partition(".")[0])
        if kind:
            found.append(Device(kind, plain(device.get("name")), count(device.get("memory"))))
    for device in _listed(answers["torch"]):
        if device.get("kind") == "xpu":
            found.append(Device("xpu", plain(device.get("name")), count(device.get("memory"))))
    return found


def _listed(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    devices = answer.get("devices")
    return [device for device in devices if isinstance(device, Mapping)] if isinstance(devices, list) else []


def _by_numbers(bus: Any, known: list[Device], nvidia_smi: bool, problems: list[str]) -> list[Device]:
    """What is on the PCI bus and no tool and no library showed: Intel's devices, and problems for the others."""
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
