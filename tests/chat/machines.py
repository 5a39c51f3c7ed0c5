"""Machines put together from what their tools say, for the tests of detection."""

import json
import os
from pathlib import Path

import pytest

from bpelab.chat.hardware import host, install
from bpelab.chat.hardware.backend_status import PACKAGES
from bpelab.chat.hardware.detect import Machine
from bpelab.chat.hardware.processes import ProbeOutput
from bpelab.chat.hardware.survey import parse_outputs

RECORDED = Path(__file__).parent / "probes"
GIB = 1 << 30
posix = pytest.mark.skipif(os.name != "posix", reason="the tools here are scripts with #!")
ALL = {package: "1.0" for packages in PACKAGES.values() for package, _ in packages}
CPU_TORCH = {"version": "2.13.0+cpu", "cuda": None, "hip": None, "devices": [], "why": []}
CPU_LLAMA = {"version": "0.3.36", "offload": False, "devices": [{"name": "CPU", "description": "a CPU"}]}
CPU_ONLY = {
    "torch": CPU_TORCH,
    "llama_cpp": CPU_LLAMA,
    "mlx": {"kind": "cpu", "name": "x86_64"},
    "numpy": {"version": "2.4.6", "works": True},
    "openvino": {"version": "2026", "devices": [{"device": "CPU", "name": "a CPU"}]},
}


def recorded(name):
    return (RECORDED / name).read_bytes().decode("utf-8")


def answered(**answers):
    """What a probe of ours prints, with a library's chatter ahead of it."""
    return {name: ProbeOutput(f"a warning\n{host.MARK}{json.dumps(answer)}\n") for name, answer in answers.items()}


HERE = {"cpu": "a CPU", "cores": 8, "memory": 32 * GIB, "free": 20 * GIB, "architecture": "x86_64"}


def machine(said=(), versions=ALL, system="Linux", tools=install.TOOLS, **host_says):
    """A Linux machine with all packages, for its processor alone, except for what is said otherwise."""
    said = answered(host=HERE | host_says) | answered(**CPU_ONLY) | dict(said)
    return Machine(*parse_outputs(system, said, versions, tools))


def status(found, name):
    return next(entry for entry in found.backends if entry.name == name)


def status_of(found, name):
    entry = status(found, name)
    return entry.devices, entry.problem


def linux(root, files):
    """A folder that holds these files, by their paths and texts."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


SCRIPTS = {
    "hangs": "import time; print('begin', flush=True); time.sleep(600)",
    "ignores": "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; time.sleep(600)",
    "closes": "import os, time; os.close(1); os.close(2); time.sleep(600)",
    "crashes": "import os, signal; print('half', flush=True); os.kill(os.getpid(), signal.SIGSEGV)",
    "floods": "import sys\nwhile True: sys.stdout.write('x' * 99999)",
    "much": "import sys; sys.stdout.write('NVIDIA H200, 1, 1, 1.0\\n' * 2200000)",
    "rubbish": "import os; os.write(1, os.urandom(4000) + b'\\xff\\xfe\\0')",
    "fails": "import sys; print('\\n  no such\\tdevice \\x1b[0m'); sys.exit(9)",
    "silent": "pass",
}
