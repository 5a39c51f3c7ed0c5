"""The report of `bpelab doctor`: this machine, what each backend can do on it, and which one it would use, and why.

Chapter: Chat on your hardware. Cost: that of `hardware.detect`.
"""

import json
import os
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ..._support.install import is_pure_wheel
from ...errors import BackendError, MissingDependencyError
from ..models import suggested
from ..models.find import ModelFiles
from .detect import detect
from .device import sanitize
from .install import llama_builds
from .machine import VARIABLE, Machine

NOWHERE = Path("no such folder")
FORMS = (
    ModelFiles("a GGUF file", NOWHERE, NOWHERE / "model.gguf", (), {}, (), {}),
    ModelFiles("safetensors files", NOWHERE, None, (NOWHERE / "model.safetensors",), {}, (), {}),
)
"""The two formats that models come in."""
WIDTH = 96
NAME = 44


def report(machine: Machine, *, complete: bool = False) -> str:
    """Return the report on a machine, as text of at most 96 columns, commands aside.

    With `complete`, it has all models that were run, and how llama.cpp is built for each kind of GPU.
    """
    lines = [f"{machine.system} {machine.architecture}, {machine.cores} cores to use", ""]
    lines += [*_table(device_rows(machine)), "", *_table(backend_rows(machine))]
    for status in machine.backends:
        if status.problem or not status.devices:
            lines += ["", *_wrapped(f"{status.name}: {status.problem or 'no device'}")]
            lines += [f"  {status.install}"] if status.install else []
            lines += _wrapped(f"({status.note})", "  ") if status.note and status.install else []
    for problem in machine.problems:
        lines += ["", *_wrapped(problem)]
    lines += ["", *(line for text in _choices(machine) for line in _wrapped(text))]
    lines += ["", *_models(machine, complete)]
    if complete:
        lines += ["", "llama.cpp is compiled for a GPU. For", *llama_builds(machine)]
    if complete or any(device.kind == "openvino-npu" for device in machine.devices):
        lines += [
            "",
            *_wrapped("An NPU of Intel's runs models through OpenVINO, if asked: bpelab chat MODEL --device NPU"),
        ]
    return "\n".join([*lines, "", *_wrapped(_encoder())])


def _models(machine: Machine, complete: bool) -> list[str]:
    """Return lines about the model that was run and fits into this machine's memory, or about all of them."""
    fitting = suggested.fitting(machine.free_bytes)
    shown = suggested.models() if complete else fitting[:1]
    lines = [line for model in shown for line in ("", *suggested.describe(model))]
    if not fitting:
        lines += [
            "",
            *_wrapped("None of the models that were run fits into the memory that is free here, except bpelab's own"),
        ]
    which = (
        "all that this project has run" if complete else "what fits this machine, of those that this project has run"
    )
    head = f"models to try, {which} (on {suggested.where()}):"
    more = "" if complete else "`bpelab doctor --all` has more models, and builds of llama.cpp."
    return [*_wrapped(head), *lines, *(["", more] if more else [])]


def _encoder() -> str:
    """Return a sentence on whether text is encoded in C here and, if not, what to do."""
    from ...native import require_extension

    try:
        require_extension()
    except MissingDependencyError as error:
        if is_pure_wheel():
            return (
                "Text is encoded in Python, with the same ids: bpelab was installed from the wheel that runs anywhere. "
                "A wheel for this machine encodes in C."
            )
        return f"Text is encoded in Python: {error}"
    return "Text is encoded in C: the extension is built."


def machine_to_dict(machine: Machine) -> dict[str, Any]:
    """Return the report for programs: the fields of `Machine`, whether each backend is usable, and the choice."""
    data: dict[str, Any] = json.loads(json.dumps(asdict(machine)))  # lists for tuples, as JSON has them
    for entry, status in zip(data["backends"], machine.backends):
        entry["usable"] = bool(status.devices)
    try:
        data["choice"] = asdict(machine.choose())
    except BackendError as error:
        data["choice"] = {"backend": None, "why": str(error)}
    return data


def run(as_json: bool, complete: bool = False) -> int:
    """Print the report on this machine, and return the exit code."""
    machine = detect()
    print(json.dumps(machine_to_dict(machine), indent=2) if as_json else report(machine, complete=complete))
    return 0


def device_rows(machine: Machine) -> list[list[str]]:
    """Return a table of the devices, including its header."""
    rows = [["device", "name", "memory", "free", "driver"]]
    for device in machine.devices:
        memory, free = size(device.memory_bytes), size(device.free_bytes)
        rows.append([device.kind, sanitize(device.name, NAME), memory, free, sanitize(device.driver or "", 20)])
    return rows


def backend_rows(machine: Machine) -> list[list[str]]:
    """Return a table of the backends, including its header."""
    rows = [["backend", "installed", "can run on"]]
    for status in machine.backends:
        devices = list(dict.fromkeys(status.devices))
        shown = ", ".join(devices[:3]) + (", ..." if len(devices) > 3 else "")
        rows.append([status.name, sanitize(status.installed or "no", 18), sanitize(shown or "nothing yet", 60)])
    return rows


def size(count: int | None) -> str:
    """Format a number of bytes for people.

    >>> size(150754820096), size(512 << 20), size(None)
    ('140.4 GiB', '512 MiB', 'unknown')
    """
    if count is None:
        return "unknown"
    return f"{count / (1 << 30):,.1f} GiB" if count >= 1 << 30 else f"{count >> 20:,} MiB"


def _choices(machine: Machine) -> list[str]:
    """Return the choice for the shipped model and, unless BPELAB_BACKEND is set, for models of either format.

    "reference" is left out of the latter: it runs only a few, and would have to load them to say which.
    """
    lines = [_choice(machine, None, "the shipped model")]
    if not os.environ.get(VARIABLE):
        others = replace(machine, backends=tuple(each for each in machine.backends if each.name != "reference"))
        lines += [_choice(others, form, form.name) for form in FORMS]
    return lines


def _choice(machine: Machine, files: ModelFiles | None, what: str) -> str:
    try:
        choice = machine.choose(files)
        return f"For {what} bpelab takes {choice.backend}: {choice.why}."
    except BackendError as error:
        sentence = str(error).partition(":\n")[0]
        aside = ", unquantized Llamas aside, which reference runs, slowly where they are large" if files else ""
        return f"{sentence[0].upper()}{sentence[1:]}{aside}."


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
