"""A machine, its devices and backends, and the choice of the best backend for a model.

`PREFERENCE` is the order of preference: the first line wins whose backend can use such a device and run the model's
files. Any GPU comes before any processor: MLX on Apple's, since it's made for them; llama.cpp, whose quantized files
need the least memory; transformers on NVIDIA's and AMD's, OpenVINO on Intel's GPUs and NPUs, transformers on all
others. On a processor a GGUF file goes to llama.cpp, and safetensors to OpenVINO, transformers, MLX, in this order.
`reference` runs the shipped model, which is so small that NumPy is fast enough, and models that no other backend can
run. An argument overrides the environment variable BPELAB_BACKEND, and that overrides the order.

Chapter: Chat on your hardware. Cost of `choose`: reading the headers of the model's files.
"""

import os
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING

from ...errors import BackendError
from .device import BackendStatus, Device

if TYPE_CHECKING:
    from ..models.find import ModelFiles

PREFERENCE = (
    ("mlx", {"metal"}),
    ("llama_cpp", {"cuda", "rocm", "metal", "vulkan", "sycl"}),
    ("transformers", {"cuda", "rocm"}),
    ("openvino", {"openvino-gpu", "openvino-npu"}),
    ("transformers", {"mps", "xpu"}),
    ("llama_cpp", {"cpu"}),
    ("openvino", {"cpu"}),
    ("transformers", {"cpu"}),
    ("mlx", {"cuda", "cpu"}),
    ("reference", {"cpu"}),
)
"""Backends and the kinds of devices that they would use, the best first."""
VARIABLE = "BPELAB_BACKEND"


@dataclass(frozen=True)
class Choice:
    """The chosen backend, and the reason for it in a sentence."""

    backend: str
    why: str


SHIPPED_CHOICE = Choice("reference", "the shipped model is so small that NumPy is fast enough")


@dataclass(frozen=True)
class Machine:
    """A machine, as far as this process may use it.

    Attributes:
        system: "Linux", "macOS", "Windows".
        cpu: the processor's name.
        cores: processors that this process may use; a container may have fewer than its machine.
        memory_bytes: main memory that this process may use. None: unknown.
        free_bytes: how much of it was free. None: unknown.
        devices: the processor, and whatever else a model can run on.
        backends: the status of each backend, in the order of BACKENDS.
        architecture: this Python's architecture: "x86_64", "arm64".
        problems: sentences about failed probes, and about devices that can't be used as they are.
    """

    system: str
    cpu: str
    cores: int
    memory_bytes: int | None
    free_bytes: int | None
    devices: tuple[Device, ...]
    backends: tuple[BackendStatus, ...]
    architecture: str = ""
    problems: tuple[str, ...] = ()

    def choose(self, files: "ModelFiles | None" = None, backend: str | None = None) -> Choice:
        """Return the best backend for a model, and the reason; None is the shipped model.

        Args:
            backend: use this one; None or "auto" for the one in the environment variable BPELAB_BACKEND, or the best.

        Raises BackendError if that one can't run here, or none can, with each one's reason and what to do.

        >>> cpu = BackendStatus("reference", "2.4", ("cpu",), None, "")
        >>> Machine("Linux", "a CPU", 2, None, None, (), (cpu,)).choose().backend
        'reference'
        """
        from ..models.find import SHIPPED

        asked, who = backend, "the argument"
        if asked in (None, "", "auto"):
            asked, who = os.environ.get(VARIABLE), f"the environment variable {VARIABLE}"
        statuses = {status.name: status for status in self.backends}
        why_not = cache(lambda name: _why_unsupported(statuses[name], files))
        if asked and asked != "auto":
            if asked not in statuses:
                raise BackendError(f"{who} asks for the backend {asked!r}; there are {', '.join(statuses)}")
            if why_not(asked):
                raise BackendError(f"{who} asks for the backend {asked}, which can't be used: {why_not(asked)}")
            return Choice(asked, f"{who} asks for it")
        shipped = files is None or files.folder == SHIPPED
        if shipped and "reference" in statuses and not why_not("reference"):
            return SHIPPED_CHOICE
        for name, kinds in PREFERENCE:
            status = statuses.get(name)
            devices = zip(status.devices, status.kinds) if status else ()
            device = next((device for device, kind in devices if kind in kinds), None)
            if device and not why_not(name):  # a backend is asked about the files only when it is its turn
                return Choice(name, f"the first in the order of preference that can run it here, on {device}")
        lines = "".join(f"\n- {name}: {why_not(name)}" for name in statuses)
        what = "the shipped model" if files is None else files.name
        raise BackendError(f"no backend can run {what} here:{lines}")

    def _repr_html_(self) -> str:
        from .report import device_rows

        head, *rows = device_rows(self)
        names = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        usable = ", ".join(status.name for status in self.backends if status.devices) or "none"
        return (
            f'<div class="bl bpelab-figure"><p class="bl-head">{escape(self.system)} {escape(self.architecture)}</p>'
            f'<div class="bl-scroll"><table class="bl-table"><thead><tr>{names}</tr></thead>'
            f'<tbody>{body}</tbody></table></div><p class="bl-note">Backends that can run: {escape(usable)}</p></div>'
        )


def _why_unsupported(status: BackendStatus, files: "ModelFiles | None") -> str | None:
    """Return why a backend can't run a model, None if it can."""
    if not status.devices:
        how = f" (to install it: {status.install})" if status.install else ""
        return f"{status.problem or 'it has no device here'}{how}"
    if files is None:
        return None
    try:
        refusal: str | None = import_module(f"..backends.{status.name}", __package__).supports(files)
    except ImportError as error:  # its package is installed, but can't be imported
        return str(error)
    return refusal
