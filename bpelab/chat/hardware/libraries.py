"""Probes of libraries: `python libraries.py torch` imports a library and prints which devices it can use.

Each answer has "devices": their kinds, names and bytes of memory, the best first. "built" says for what the library
was built, and "why" what it says about devices that it can't use. This file imports nothing from this package. The
answer is the last line, after anything that the library itself prints.

Chapter: Chat on your hardware. Cost: importing the library, which can take seconds.
"""

import ctypes
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

MARK = "bpelab-probe:"
SHOWN = 64
CPU = {"kind": "cpu"}
GGML = {
    "CUDA": "cuda",
    "ROCm": "rocm",
    "HIP": "rocm",
    "Metal": "metal",
    "MTL": "metal",
    "Vulkan": "vulkan",
    "SYCL": "sycl",
    "CPU": "cpu",
}
"""llama.cpp's names for kinds of devices, without their numbers; models don't go on others (BLAS, RPC)."""
OPENVINO = {"GPU": "openvino-gpu", "NPU": "openvino-npu", "CPU": "cpu"}
"""OpenVINO's names of devices, without their numbers -> kinds, the best first."""


def torch() -> dict[str, Any]:
    """Return PyTorch's devices, each tested with one addition: PyTorch may see a GPU that it has no code for."""
    import torch as library

    cuda, hip = library.version.cuda, library.version.hip
    devices: list[dict[str, Any]] = []
    reasons: list[str] = []

    def candidates() -> Iterator[tuple[str, str, str, int | None]]:
        for kind, where, module in (("rocm" if hip else "cuda", "cuda", library.cuda), ("xpu", "xpu", library.xpu)):
            for index in range(min(module.device_count(), SHOWN) if module.is_available() else 0):
                about = module.get_device_properties(index)
                yield kind, f"{where}:{index}", about.name, about.total_memory
        if library.backends.mps.is_available():
            yield "mps", "mps", "Apple GPU", None

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for kind, where, name, memory in candidates():
            try:
                float(library.ones(1, device=where) + 1)
                devices.append({"kind": kind, "name": name, "memory": memory})
            except Exception as error:
                reasons.append(f"{name}: {error}")
    if not devices and os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        reasons.append("the environment variable CUDA_VISIBLE_DEVICES hides all GPUs")
    reasons += [str(warning.message) for warning in caught]
    built = f"rocm {hip}" if hip else f"cuda {cuda}" if cuda else "the CPU alone"
    return {"built": built, "devices": [*devices, CPU], "why": "; ".join(reasons)}


def llama_cpp() -> dict[str, Any]:
    """Return llama.cpp's devices, from the library itself: its Python package has no function for that."""
    import llama_cpp as package

    package.llama_backend_init()
    folder = Path(os.environ.get("LLAMA_CPP_LIB_PATH") or Path(package.__file__).parent / "lib")
    # They are loaded already: these are new handles. Elsewhere than on Windows the first has the functions of all.
    names = ("libllama.so", "libllama.dylib", "ggml.dll", "ggml-base.dll")
    libraries = [ctypes.CDLL(str(folder / name)) for name in names if (folder / name).exists()]

    def function(name: str, result: Any, *arguments: Any) -> Any:
        called = next(library[name] for library in libraries if hasattr(library, name))
        called.restype, called.argtypes = result, arguments
        return called

    get = function("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    name = function("ggml_backend_dev_name", ctypes.c_char_p, ctypes.c_void_p)
    description = function("ggml_backend_dev_description", ctypes.c_char_p, ctypes.c_void_p)
    devices = []
    for index in range(min(function("ggml_backend_dev_count", ctypes.c_size_t)(), SHOWN)):
        kind = GGML.get(name(get(index)).decode("utf-8", "replace").rstrip("0123456789"))
        if kind:
            devices.append({"kind": kind, "name": description(get(index)).decode("utf-8", "replace")})
    devices.sort(key=lambda device: device["kind"] == "cpu")
    built = "a GPU" if package.llama_supports_gpu_offload() else "the CPU alone"
    return {"built": built, "devices": devices}


def mlx() -> dict[str, Any]:
    """Return MLX's device, an Apple GPU or an NVIDIA GPU, and the processor."""
    import mlx.core as library

    float((library.ones(1) + 1).item())
    for kind in ("metal", "cuda"):
        if getattr(library, kind).is_available():
            return {"devices": [{"kind": kind, "name": str(library.device_info().get("device_name", ""))}, CPU]}
    return {"devices": [CPU]}


def openvino() -> dict[str, Any]:
    """Return OpenVINO's devices."""
    import openvino as library

    core = library.Core()
    devices: list[dict[str, Any]] = []
    for device in list(core.available_devices)[:SHOWN]:
        interface = device.partition(".")[0]
        try:
            memory = int(core.get_property(device, f"{interface}_DEVICE_TOTAL_MEM_SIZE"))
        except Exception:  # a property that this driver, or any processor, doesn't have
            memory = None
        if kind := OPENVINO.get(interface):
            name = str(core.get_property(device, "FULL_DEVICE_NAME"))
            devices.append({"kind": kind, "name": name, "memory": memory})
    devices.sort(key=lambda device: list(OPENVINO.values()).index(device["kind"]))
    return {"devices": devices, "why": "Intel's compute driver for it is not installed, or is too old"}


def numpy() -> dict[str, Any]:
    """Return the processor, if NumPy can multiply on it."""
    import numpy as library

    if (library.ones((2, 2)) @ library.ones(2)).sum() != 4:
        raise ArithmeticError("NumPy can't multiply")
    return {"devices": [CPU]}


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
