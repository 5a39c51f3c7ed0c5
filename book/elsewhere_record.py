"""What doctor says of machines that nobody had here: `PYTHONPATH=. python book/elsewhere_record.py`.

It writes elsewhere_record.json, which *Chat on your hardware* shows. Each machine is put together from what its tools
print, as for the tests of detection (tests/chat/probes): first with no engine installed, and then with engines that
list its devices. A test makes the record again. Run it in the repository's root, as the commands in it are to be.
"""

import json
from pathlib import Path
from typing import NamedTuple

from bpelab.chat.hardware.backend_status import ENGINES
from bpelab.chat.hardware.device import Device
from bpelab.chat.hardware.host import Host
from bpelab.chat.hardware.machine import Machine
from bpelab.chat.hardware.pci import Card
from bpelab.chat.hardware.processes import ProbeOutput
from bpelab.chat.hardware.report import FORMS, report
from tests.chat.machines import CPU, GIB, answered, machine, recorded

RECORD = Path(__file__).with_name("elsewhere_record.json")


class Elsewhere(NamedTuple):
    """A machine: its system, its host, what its tools print and its bus lists, and what its engines would list."""

    system: str
    host: Host
    said: dict[str, ProbeOutput]
    bus: list[Card]
    engines: dict[str, list[dict[str, object]]]


def listed(kind: str, name: str) -> list[dict[str, object]]:
    """Return the devices of an engine that lists a GPU."""
    return [{"kind": kind, "name": name}, CPU]


RTX, M2, ARC = "NVIDIA GeForce RTX 4090", "Apple M2 Max", "Intel DG2 [Arc A770]"
MACHINES = {
    "CPU": Elsewhere(
        "Linux", Host("a CPU", 8, 8 * GIB, 6 * GIB, "x86_64"), {}, [], {"llama_cpp": [CPU], "openvino": [CPU]}
    ),
    "NVIDIA": Elsewhere(
        "Windows",
        Host("13th Gen Intel(R) Core(TM) i9-13900K", 32, 32 * GIB, 20 * GIB, "AMD64"),
        {"nvidia-smi": ProbeOutput(recorded("nvidia-smi-windows-two-rtx.csv"))},
        [],
        {"llama_cpp": listed("cuda", RTX), "transformers": listed("cuda", RTX)},
    ),
    "Apple": Elsewhere(
        "macOS",
        Host(None, 12, 32 * GIB, 20 * GIB, "arm64"),
        {"sysctl": ProbeOutput(recorded("sysctl-m2-max.txt"))},
        [],
        {"llama_cpp": listed("metal", M2), "mlx": listed("metal", M2)},
    ),
    "Intel": Elsewhere(
        "Linux",
        Host("Intel(R) Core(TM) Ultra 7 155H", 16, 32 * GIB, 20 * GIB, "x86_64"),
        {},
        [Card(Device("openvino-gpu", ARC, driver="xe"))],
        {"llama_cpp": [CPU], "openvino": json.loads(recorded("openvino-arc.json"))["devices"]},
    ),
}
"""A small laptop without a GPU, and one machine of each maker of GPUs."""


def bare(elsewhere: Elsewhere) -> Machine:
    """Return a machine with no engine installed."""
    return machine(elsewhere.said, {}, elsewhere.system, bus=elsewhere.bus, here=elsewhere.host)


def doctor(elsewhere: Elsewhere) -> str:
    """Return the report on the bare machine, less its last sentence, which is on bpelab's own C."""
    return report(bare(elsewhere)).rpartition("\n\n")[0]


def choices(elsewhere: Elsewhere) -> dict[str, str]:
    """Return, for each form that models come in, what is taken once engines are installed, and why."""
    versions = {package: "1.0" for name in elsewhere.engines for package in ENGINES[name].packages}
    answers = {ENGINES[name].probe: {"devices": devices} for name, devices in elsewhere.engines.items()}
    equipped = machine(
        elsewhere.said | answered(**answers), versions, elsewhere.system, bus=elsewhere.bus, here=elsewhere.host
    )
    chosen = {form.name: equipped.choose(form) for form in FORMS}
    return {name: f"{choice.backend}: {choice.why}" for name, choice in chosen.items()}


def make_record() -> dict[str, dict[str, object]]:
    """Return, for each machine, what doctor says, the commands that install its backends, and what is chosen then."""
    return {
        name: {
            "doctor": doctor(each),
            "commands": {status.name: status.install for status in bare(each).backends if status.name in each.engines},
            "choices": choices(each),
        }
        for name, each in MACHINES.items()
    }


if __name__ == "__main__":
    RECORD.write_text(json.dumps(make_record(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
