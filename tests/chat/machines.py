"""Machines put together from what their tools say, for the tests of detection."""

import json
import os
from pathlib import Path

import pytest

from bpelab.chat.hardware import install
from bpelab.chat.hardware.backend_status import ENGINES
from bpelab.chat.hardware.detect import interpret
from bpelab.chat.hardware.host import Host
from bpelab.chat.hardware.libraries import MARK
from bpelab.chat.hardware.processes import ProbeOutput

RECORDED = Path(__file__).parent / "probes"
GIB = 1 << 30
posix = pytest.mark.skipif(os.name != "posix", reason="the tools here are scripts with #!")
ALL = {package: "1.0" for engine in ENGINES.values() for package in engine.packages}
CPU = {"kind": "cpu", "name": "a CPU"}
CPU_ONLY = {
    "torch": {"built": "the CPU alone", "devices": [CPU], "why": ""},
    "llama_cpp": {"built": "the CPU alone", "devices": [CPU]},
    "mlx": {"devices": [CPU]},
    "numpy": {"devices": [CPU]},
    "openvino": {"devices": [CPU]},
}
HERE = Host("a CPU", 8, 32 * GIB, 20 * GIB, "x86_64")


def recorded(name):
    return (RECORDED / name).read_bytes().decode("utf-8")


def answered(**answers):
    """What a probe of ours prints, with a library's chatter ahead of it."""
    return {name: ProbeOutput(f"a warning\n{MARK}{json.dumps(answer)}\n") for name, answer in answers.items()}


def machine(said=(), versions=ALL, system="Linux", compilers=install.TOOLS, bus=(), here=HERE):
    """A Linux machine with all packages, for its processor alone, except for what is said otherwise."""
    return interpret(system, here, bus, answered(**CPU_ONLY) | dict(said), versions, compilers)


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
