"""The command that installs a backend on this machine, or repairs one that can't use all of the machine's devices.

PyTorch's packages for less common accelerators are on separate indexes, which `uv` knows by name:
`--torch-backend=auto` takes the one for the GPU and driver that it finds. llama.cpp is compiled during installation,
and CMAKE_ARGS sets the target. Chapter: Chat on your hardware. Sources: the installation pages of llama-cpp-python,
MLX, OpenVINO and PyTorch, and uv's guide for PyTorch.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..._support.install import install_command

if TYPE_CHECKING:
    from .machine import Machine

LARGE = "torch for Linux brings several GB of packages for CUDA"
UV = "it downloads several GB; uv asks for a virtual environment"
COMPILED = "it is compiled, which takes minutes"
FLAGS = (
    ("cuda", "-DGGML_CUDA=on", "nvcc", "the CUDA toolkit"),
    ("rocm", "-DGGML_HIP=on", "hipcc", "ROCm's HIP compiler"),
    ("vulkan", "-DGGML_VULKAN=on", "glslc", "the Vulkan SDK"),
    (
        "sycl",
        "-DGGML_SYCL=on -DCMAKE_C_COMPILER=icx -DCMAKE_CXX_COMPILER=icpx",
        "icpx",
        "Intel's oneAPI, its setvars script run",
    ),
)
"""Targets for building llama.cpp: the kind of device, the flag, the compiler it needs, and what provides that."""
COMPILERS = ("c++", "g++", "clang++", "cl")
TOOLS = (*COMPILERS, *(tool for _, _, tool, _ in FLAGS))


def install(backend: str, machine: "Machine", there: Collection[str], again: bool) -> tuple[str, str | None]:
    """Return the command that installs a backend on a machine, and a note about it or None.

    Args:
        there: which of `TOOLS` are on the path.
        again: whether it's already installed, but can't use a device.
    """
    kinds = {device.kind for device in machine.devices}
    if backend == "llama_cpp":
        return llama(machine.system, kinds, there, again)
    if backend == "transformers":
        return transformers(machine.system, machine.architecture, kinds, again)
    extra = "chat" if backend == "reference" else backend
    return install_command(extra, pip="pip install --force-reinstall" if again else "pip install"), None


def llama(system: str, kinds: Collection[str], there: Collection[str], again: bool) -> tuple[str, str | None]:
    """Return the command for llama.cpp, and a note about it; the arguments are those of `install`.

    >>> llama("Linux", {"cuda", "cpu"}, {"g++", "nvcc"}, again=False)[0]
    'CMAKE_ARGS="-DGGML_CUDA=on" pip install --no-cache-dir -e ".[llama]"'
    """
    command = install_command("llama", pip="pip install --no-cache-dir")
    if again:
        command = "pip install --force-reinstall --no-deps --no-cache-dir llama-cpp-python"
    missing = [] if any(tool in there for tool in COMPILERS) else ["a C++ compiler"]
    for kind, flag, tool, brought in FLAGS:
        if kind in kinds:  # on Apple's machines, Metal is built by default
            variable = f'CMAKE_ARGS="{flag}"'
            command = f"$env:{variable}; {command}" if system == "Windows" else f"{variable} {command}"
            missing += [] if tool in there else [f"{tool} ({brought})"]
            break
    note = f"{COMPILED}, and needs {' and '.join(missing)}, not found here" if missing else COMPILED
    return command, note


def llama_builds(machine: "Machine") -> list[str]:
    """Return how llama.cpp is built for each kind of GPU, those of this machine first: titles and commands."""
    here = {device.kind for device in machine.devices}
    titles = {"cuda": "NVIDIA (CUDA)", "rocm": "AMD (ROCm)", "vulkan": "any GPU with Vulkan", "sycl": "Intel (SYCL)"}
    lines = []
    for kind, _, tool, brought in sorted(FLAGS, key=lambda entry: entry[0] not in here):
        title = f"{titles[kind]}{', this machine' if kind in here else ''}; needs {tool} ({brought}):"
        lines += [f"  {title}", f"    {llama(machine.system, {kind}, TOOLS, again=True)[0]}"]
    return [
        *lines,
        "  Apple (Metal): built by default on a Mac:",
        f"    {llama('macOS', {'metal'}, TOOLS, again=True)[0]}",
    ]


def transformers(system: str, architecture: str, kinds: Collection[str], again: bool) -> tuple[str, str | None]:
    """Return the command for transformers with PyTorch, and a note about it; the arguments are those of `install`.

    >>> transformers("Linux", "x86_64", {"cpu"}, again=False)[0]
    'pip install -e ".[transformers]"'
    >>> transformers("Windows", "AMD64", {"cuda", "cpu"}, again=True)[0]
    'pip install uv; uv pip install --reinstall-package torch --torch-backend=auto torch'
    """
    if system == "macOS" or not {"cuda", "rocm"} & set(kinds):
        if again:
            return "pip install --force-reinstall torch", None
        small = install_command("transformers", pip="uv pip install --torch-backend=cpu")
        return install_command("transformers"), f"{LARGE}; without them: {small}" if system == "Linux" else None
    if system == "Linux" and architecture == "x86_64" and "cuda" in kinds and not again:
        return install_command("transformers"), LARGE
    join = ";" if system == "Windows" else " &&"
    uv = f"pip install uv{join} uv pip install"
    if again:
        return f"{uv} --reinstall-package torch --torch-backend=auto torch", UV
    return install_command("transformers", pip=f"{uv} --torch-backend=auto"), UV
