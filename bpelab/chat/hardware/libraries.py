"""Probes of libraries: `python libraries.py torch` imports a library and prints which devices it can use.

It imports nothing from this package. The answer is the last line, after anything that the library itself prints.
Chapter: Chat on your hardware. Cost: importing the library, which can take seconds.
"""

import ctypes
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

MARK = "bpelab-probe:"
SHOWN = 64


def torch() -> dict[str, Any]:
    """Return PyTorch's devices, each tested with one addition: PyTorch may see a GPU that it has no code for."""
    import torch as library

    devices: list[dict[str, Any]] = []
    reasons: list[str] = []

    def add(kind: str, where: str, name: str, memory: int | None) -> None:
        try:
            float(library.ones(1, device=where) + 1)
            devices.append({"kind": kind, "name": name, "memory": memory})
        except Exception as error:
            reasons.append(f"{name}: {error}")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if library.cuda.is_available():
            kind = "rocm" if library.version.hip else "cuda"
            for index in range(min(library.cuda.device_count(), SHOWN)):
                about = library.cuda.get_device_properties(index)
                add(kind, f"cuda:{index}", about.name, about.total_memory)
        elif os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
            reasons.append("the environment variable CUDA_VISIBLE_DEVICES hides all GPUs")
        if library.backends.mps.is_available():
            add("mps", "mps", "Apple GPU", None)
        if hasattr(library, "xpu") and library.xpu.is_available():
            for index in range(min(library.xpu.device_count(), SHOWN)):
                about = library.xpu.get_device_properties(index)
                add("xpu", f"xpu:{index}", about.name, about.total_memory)
    reasons += [str(warning.message) for warning in caught]
    built = {"version": library.__version__, "cuda": library.version.cuda, "hip": library.version.hip}
    return built | {"devices": devices, "why": reasons}


def llama_cpp() -> dict[str, Any]:
    """Return llama.cpp's devices, from the library itself: its Python package has no function for that."""
    import llama_cpp as package
    import llama_cpp.llama_cpp as bindings

    found = {
        "version": package.__version__,
        "offload": bool(package.llama_supports_gpu_offload()),
        "built": package.llama_print_system_info().decode("utf-8", "replace"),
    }
    package.llama_backend_init()
    folder = os.path.join(os.path.dirname(package.__file__), "lib")
    libraries = [bindings._lib]  # noqa: SLF001 - the library that is loaded has no public name
    for name in ("ggml.dll", "ggml-base.dll"):  # on Windows a library doesn't re-export its parts' functions
        if os.path.exists(os.path.join(folder, name)):
            libraries.append(ctypes.CDLL(os.path.join(folder, name)))

    def function(name: str, result: Any, *arguments: Any) -> Any:
        for library in libraries:
            if hasattr(library, name):
                called = library[name]  # a new object each time: the package's own signatures stay as they are
                called.restype, called.argtypes = result, arguments
                return called
        raise LookupError(f"llama.cpp has no function {name}")

    try:
        get = function("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
        name = function("ggml_backend_dev_name", ctypes.c_char_p, ctypes.c_void_p)
        description = function("ggml_backend_dev_description", ctypes.c_char_p, ctypes.c_void_p)
        handles = [get(index) for index in range(min(function("ggml_backend_dev_count", ctypes.c_size_t)(), SHOWN))]
    except LookupError:  # older than 2024-10
        return found
    texts = [[ask(handle).decode("utf-8", "replace") for ask in (name, description)] for handle in handles]
    return found | {"devices": [{"name": short, "description": long} for short, long in texts]}


def mlx() -> dict[str, Any]:
    """Return MLX's device: an Apple GPU, an NVIDIA GPU, or the processor."""
    import mlx.core as library

    kind = "metal" if library.metal.is_available() else "cpu"
    if hasattr(library, "cuda") and library.cuda.is_available():
        kind = "cuda"
    about = library.device_info() if hasattr(library, "device_info") else {}
    float((library.ones(1) + 1).item())
    return {"kind": kind, "default": str(library.default_device()), "name": str(about.get("device_name", ""))}


def openvino() -> dict[str, Any]:
    """Return OpenVINO's devices, with its own names (CPU, GPU, GPU.1, NPU) and their full names."""
    import openvino as library

    core = library.Core()
    devices = []
    for device in list(core.available_devices)[:SHOWN]:
        about: dict[str, Any] = {"device": str(device), "name": str(core.get_property(device, "FULL_DEVICE_NAME"))}
        size = {"GPU": "GPU_DEVICE_TOTAL_MEM_SIZE", "NPU": "NPU_DEVICE_TOTAL_MEM_SIZE"}.get(device.partition(".")[0])
        try:
            about["memory"] = int(core.get_property(device, size)) if size else None
        except Exception:  # a property that this driver doesn't have
            about["memory"] = None
        devices.append(about)
    return {"version": str(library.__version__), "devices": devices}


def numpy() -> dict[str, Any]:
    """Return whether NumPy can be imported and multiply."""
    import numpy as library

    return {"version": str(library.__version__), "works": bool((library.ones((2, 2)) @ library.ones(2)).sum() == 4)}


PROBES: dict[str, Callable[[], dict[str, Any]]] = {
    "torch": torch,
    "llama_cpp": llama_cpp,
    "mlx": mlx,
    "openvino": openvino,
    "numpy": numpy,
}


def main(name: str) -> None:
    """Print the answer, and exit before a library can crash while it shuts down."""
    try:
        answer = PROBES[name]()
    except BaseException as error:
        answer = {"problem": f"{type(error).__name__}: {error}"[:2000]}
    sys.stdout.flush()
    sys.stderr.flush()
    data = ("\n" + MARK + json.dumps(answer) + "\n").encode("ascii")
    while data:
        data = data[os.write(1, data) :]
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
