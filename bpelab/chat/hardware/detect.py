"""Detect this machine's devices, and what each backend can do with them.

The system's own files are read here. Drivers' tools and the libraries that would use the devices are probes, each in
its own process with a time limit: a driver that crashes or hangs becomes a sentence in `Machine.problems`. Nothing is
guessed; what is unknown is None.

Each device is described by the source that knows most about it: first the tools of NVIDIA, Vulkan and Apple, then the
engines, which list what they can use, and last the PCI bus, which lists what nothing here can use yet.

Chapter: Chat on your hardware. Cost of `detect`: the slowest library's import, seconds; once per process.
"""

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from . import host, libraries, pci, tools
from .backend_status import ENGINES, backend_status, installed_versions, listed_devices
from .device import BackendStatus, Device, sanitize
from .install import TOOLS
from .machine import PREFERENCE, VARIABLE, Choice, Machine
from .processes import ProbeOutput, run_probes

__all__ = ["PREFERENCE", "VARIABLE", "BackendStatus", "Choice", "Device", "Machine", "detect"]

SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows", "emscripten": "a browser"}
TOOLS_OF_MACS = {"sysctl"}

_known: Machine | None = None
_lock = Lock()


def detect(*, time_limit: float = 20.0, fresh: bool = False) -> Machine:
    """Detect this machine's hardware, once per process; `fresh` detects it again.

    Args:
        time_limit: seconds after which unanswered probes are stopped and reported as problems.

    Never raises, and takes at most `time_limit` plus two seconds.
    """
    global _known  # noqa: PLW0603 - one machine per process
    with _lock:
        if _known is None or fresh:
            system, versions = SYSTEMS.get(sys.platform, sys.platform), installed_versions()
            outputs = run_probes(probe_commands(system, versions), time_limit)
            compilers = [tool for tool in TOOLS if tools.find_tool(tool)]
            _known = interpret(system, host.describe(), pci.cards(), outputs, versions, compilers)
        return _known


def probe_commands(system: str, versions: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the probe commands by name, for the tools on this machine and the packages that are installed."""
    commands = {
        name: [path, *arguments]
        for name, arguments in tools.COMMANDS.items()
        if (name in TOOLS_OF_MACS) == (system == "macOS") and (path := tools.find_tool(name))
    }
    if sys.executable and not getattr(sys, "frozen", False):  # in a frozen program this would start the program again
        for engine in ENGINES.values():
            if versions.keys() >= engine.packages.keys():
                commands[engine.probe] = [sys.executable, "-P", str(Path(libraries.__file__)), engine.probe]
    return commands


def interpret(
    system: str,
    here: host.Host,
    bus: Sequence[pci.Card],
    outputs: Mapping[str, ProbeOutput],
    versions: Mapping[str, str],
    compilers: Collection[str] = (),
) -> Machine:
    """Return the machine that all of these describe; what can't be parsed becomes a problem.

    Args:
        outputs: the output of each probe, by name.
        versions: the versions of installed packages.
        compilers: which of `install.TOOLS` there are.

    >>> interpret("Linux", host.Host("a CPU", 2, None, None, "x86_64"), [], {}, {}).devices
    (Device(kind='cpu', name='a CPU', memory_bytes=None, free_bytes=None, driver=None),)
    """
    problems: list[str] = []
    mac = _parse("sysctl", outputs, tools.sysctl, tools.Mac(None, False), problems)
    cpu = sanitize(here.cpu or mac.cpu or f"CPU of {here.architecture}", 80)
    devices = [Device("cpu", cpu, here.memory_bytes, here.free_bytes)]
    devices += _parse("nvidia-smi", outputs, tools.nvidia_smi, [], problems)
    devices += _parse("vulkaninfo", outputs, tools.vulkaninfo, [], problems)
    if mac.apple:
        devices.append(Device("metal", cpu, here.memory_bytes, here.free_bytes))
    probes = {name: engine.probe for name, engine in ENGINES.items()}
    answers = {name: library_answer(probe, outputs.get(probe)) for name, probe in probes.items()}
    for answer in answers.values():
        known = {device.kind for device in devices} | {"mps"}  # PyTorch's name for Metal
        devices += [device for device in listed_devices(answer) if device.kind not in known]
    known = {device.kind for device in devices}
    for card in bus:
        if card.device.kind in known or (card.device.kind == "cuda" and "nvidia-smi" in outputs):
            continue  # a better source has listed it, or nvidia-smi has said what is wrong
        if card.obstacle:
            problems.append(f"{card.device.name} is in this machine, and can't be used: {card.obstacle}")
        else:
            devices.append(card.device)
    machine = Machine(
        system=system,
        devices=tuple(devices),
        backends=(),
        problems=tuple(dict.fromkeys(problems)),
        **here._replace(cpu=cpu)._asdict(),
    )
    statuses = (backend_status(name, machine, versions, answers[name], compilers) for name in ENGINES)
    return replace(machine, backends=tuple(statuses))


def _parse(
    name: str, outputs: Mapping[str, ProbeOutput], parse: Callable[[str], Any], default: Any, problems: list[str]
) -> Any:
    """Return what a tool printed, parsed, or the default; what went wrong is added to `problems`."""
    output = outputs.get(name)
    if output is None:
        return default
    try:
        parsed = parse(output.text)
    except Exception:  # a broken tool can print anything
        parsed = default
    if output.problem and not (output.mild and parsed != default):
        problems.append(tools.advice(output.problem))
    elif parsed == default and output.text.strip() and name == "nvidia-smi":
        problems.append(f"{name} printed what it should not: {sanitize(output.text, 60)}")
    return parsed


def library_answer(name: str, output: ProbeOutput | None) -> Mapping[str, Any]:
    """Return a library's answer, or {"problem": ...}. Where no process can start, NumPy is taken to work.

    >>> library_answer("torch", ProbeOutput('a warning\\nbpelab-probe:{"devices": []}\\n'))
    {'devices': []}
    """
    output = output or ProbeOutput(problem=f"{name} can't be asked: this program starts no Python", started=False)
    if not output.started:
        return {"devices": [libraries.CPU]} if name == "numpy" else {"problem": output.problem}
    _, mark, line = output.text.rpartition("\n" + libraries.MARK)
    try:
        answer = json.loads(line) if mark else None
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        return answer
    return {"problem": output.problem or f"{name} gave no answer: {sanitize(output.text[-200:]) or 'nothing'}"}
