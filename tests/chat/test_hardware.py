"""What detection concludes: backends, the choice over a table of machines, broken machines, and this one."""

import json
import os
import sys
import time
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bpelab._support.install import install_command
from bpelab.chat.hardware import detect as hardware, host, processes, report, tools
from bpelab.chat.hardware.backend_status import ENGINES, installed_version
from bpelab.chat.hardware.detect import PREFERENCE, BackendStatus, Device, Machine, detect, probe_commands
from bpelab.chat.hardware.device import sanitize
from bpelab.chat.hardware.pci import Card
from bpelab.chat.hardware.processes import ProbeOutput
from bpelab.chat.models.find import SHIPPED, ModelFiles, find_model
from bpelab.errors import BackendError

from .machines import (
    ALL,
    CPU,
    GIB,
    RECORDED,
    SCRIPTS,
    answered,
    linux,
    machine,
    posix,
    recorded,
    status,
    status_of,
)


def test_windows():
    """One machine from what it says and what nvidia-smi prints there."""
    here = host.Host("13th Gen Intel(R) Core(TM) i9-13900K", 32, 33885765632, 19686584320, "AMD64")
    found = machine(
        {"nvidia-smi": ProbeOutput(recorded("nvidia-smi-windows-two-rtx.csv"))}, system="Windows", here=here
    )
    assert (found.memory_bytes, found.free_bytes, found.cores, len(found.devices)) == (33885765632, 19686584320, 32, 3)
    assert status_of(found, "mlx") == (
        (),
        "MLX has no packages for Windows on AMD64: it is for Apple Silicon and Linux",
    )
    assert status(found, "llama_cpp").install.startswith('$env:CMAKE_ARGS="-DGGML_CUDA=on"; pip install')
    assert (
        status(found, "transformers").install
        == "pip install uv; uv pip install --reinstall-package torch --torch-backend=auto torch"
    )


# Backends


def mac(sysctl="sysctl-m2-max.txt", architecture="arm64", **answers):
    failed = ("sysctl failed: ... (exit code 1)", True) if "intel" in sysctl else ()
    said = {"sysctl": ProbeOutput(recorded(sysctl), *failed), **answered(**answers)}
    return machine(said, system="macOS", here=host.Host(None, 12, 64 * GIB, 20 * GIB, architecture))


def engine(*kinds, **says):
    """What an engine says that lists two devices of each kind."""
    return {"devices": [{"kind": kind, "name": "Some Device", "memory": GIB} for kind in kinds * 2] + [CPU], **says}


METAL = {
    "mlx": {"devices": [{"kind": "metal", "name": "Apple M2 Max"}, CPU]},
    "llama_cpp": engine("metal"),
    "torch": engine("mps"),
}


def test_macs():
    found = mac(**METAL)
    assert (found.cpu, found.problems) == ("Apple M2 Max", ())
    assert status_of(found, "mlx") == (("metal: Apple M2 Max", "cpu"), None)
    assert found.devices[1:] == (Device("metal", "Apple M2 Max", 64 * GIB, 20 * GIB),)
    assert status_of(found, "llama_cpp") == (("metal: Some Device", "metal: Some Device", "cpu"), None)
    assert status_of(found, "transformers") == (("mps: Some Device", "mps: Some Device", "cpu"), None)
    assert status(found, "llama_cpp").install == install_command("llama", pip="pip install --no-cache-dir")
    assert status(found, "mlx").install == install_command("mlx")
    assert status(found, "transformers").note is None
    translated = mac("sysctl-rosetta.txt", "x86_64")
    assert status_of(translated, "mlx") == (
        (),
        "this Python is made for Intel's processors and is translated: MLX needs one for Apple's (arm64)",
    )
    old = mac("sysctl-intel.txt", "x86_64")
    assert [device.kind for device in old.devices] == ["cpu"]
    assert old.problems == ()
    assert status(old, "mlx").problem.startswith("MLX has no packages for macOS on x86_64")


H200 = {"nvidia-smi": ProbeOutput(recorded("nvidia-smi-h200.csv"))}
CUDA_TORCH = engine("cuda", built="cuda 13.0")
CUDA_LLAMA = engine("cuda", built="a GPU")


def test_nvidia_and_engines_for_the_cpu():
    found = machine(H200)
    assert status_of(found, "transformers") == (("cpu",), "torch 1.0, built for the CPU alone, can't use NVIDIA H200")
    assert status_of(found, "llama_cpp") == (
        ("cpu",),
        "llama-cpp-python 1.0, built for the CPU alone, can't use NVIDIA H200",
    )
    assert (
        status(found, "transformers").install
        == "pip install uv && uv pip install --reinstall-package torch --torch-backend=auto torch"
    )
    assert (
        status(found, "llama_cpp").install
        == 'CMAKE_ARGS="-DGGML_CUDA=on" pip install --force-reinstall --no-deps --no-cache-dir llama-cpp-python'
    )
    assert "needs" not in status(found, "llama_cpp").note
    assert "nvcc (the CUDA toolkit), not found here" in status(machine(H200, compilers=["g++"]), "llama_cpp").note
    assert "a C++ compiler and nvcc" in status(machine(H200, compilers=[]), "llama_cpp").note


def test_nvidia_and_a_driver_that_is_too_old():
    why = "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040)."
    found = machine({**H200, **answered(torch=CUDA_TORCH | {"devices": [CPU], "why": why})})
    assert status(found, "transformers").problem == f"torch 1.0, built for cuda 13.0, can't use NVIDIA H200: {why}"


def test_nvidia_that_works():
    found = machine({**H200, **answered(torch=CUDA_TORCH, llama_cpp=CUDA_LLAMA)})
    assert status_of(found, "transformers") == (("cuda: Some Device", "cuda: Some Device", "cpu"), None)
    assert status_of(found, "llama_cpp") == (("cuda: Some Device", "cuda: Some Device", "cpu"), None)
    assert status(found, "transformers").install == install_command("transformers")
    assert [device.name for device in found.devices[1:]] == ["NVIDIA H200"] * 2


def test_devices_that_only_an_engine_lists():
    """Whatever no tool lists is taken from the first engine that does."""
    found = machine(answered(torch=engine("xpu"), llama_cpp=engine("sycl", "vulkan")))
    assert [device.kind for device in found.devices] == ["cpu", "sycl", "vulkan", "sycl", "vulkan", "xpu", "xpu"]
    assert found.devices[-1] == Device("xpu", "Some Device", GIB)


RADEON = [Card(Device("rocm", "AMD Navi 31 [Radeon RX 7900 XT]", 20 * GIB, 19 * GIB, "amdgpu"))]
VULKAN = {"vulkaninfo": ProbeOutput(recorded("vulkaninfo-amd.txt"))}


@pytest.mark.parametrize(
    "said, bus, flag", [(H200 | VULKAN, RADEON, "CUDA"), (VULKAN, RADEON, "HIP"), (VULKAN, (), "VULKAN")]
)
def test_llama_is_built_for_the_gpu_that_is_there(said, bus, flag):
    command = status(machine(said, versions={}, bus=bus), "llama_cpp").install
    assert command == install_command("llama", pip=f'CMAKE_ARGS="-DGGML_{flag}=on" pip install --no-cache-dir')


def test_nothing_installed():
    found = machine(versions={})
    assert [entry.devices for entry in found.backends] == [()] * 5
    assert [entry.installed for entry in found.backends] == [None] * 5
    assert status(found, "reference").install == install_command("chat")
    assert "several GB" in status(found, "transformers").note
    assert status(
        machine({"vulkaninfo": ProbeOutput(recorded("vulkaninfo-software.txt"))}, versions={}), "llama_cpp"
    ).install == install_command("llama", pip="pip install --no-cache-dir")
    with pytest.raises(BackendError) as caught:
        found.choose()
    for entry in found.backends:
        assert f"- {entry.name}: " in str(caught.value) and entry.install in str(caught.value)


def test_versions_are_known_without_an_import(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "only_a_folder").mkdir()
    files = {
        "bpelab_boom/__init__.py": "raise SystemExit('imported')",
        "bpelab_boom-3.1.dist-info/METADATA": "Name: bpelab-boom\nVersion: 3.1\n",
        "bpelab_bare.py": "1/0",
    }
    linux(tmp_path, files)
    assert installed_version("bpelab-boom", "bpelab_boom") == "3.1"
    assert installed_version("bpelab-bare", "bpelab_bare") == "unknown version"
    assert installed_version("only-a-folder", "only_a_folder") is None
    assert "bpelab_boom" not in sys.modules


# The choice


def model(gguf, safetensors, folder=Path("a/model")):
    weights = (folder / "model.safetensors",) if safetensors else ()
    config = {"model_type": "llama"} if safetensors else {}
    return ModelFiles("a model", folder, folder / "model.gguf" if gguf else None, weights, config, (), {})


GGUF, SAFE, BOTH = model(True, False), model(False, True), model(True, True)
ARC = answered(openvino=json.loads(recorded("openvino-arc.json")))
NO_LLAMA = {name: version for name, version in ALL.items() if name != "llama-cpp-python"}
CUDA = machine(H200 | answered(torch=CUDA_TORCH, llama_cpp=CUDA_LLAMA))
TORCH_AND_MLX = dict.fromkeys(("transformers", "torch", "mlx", "mlx-lm"), "1")


@pytest.mark.parametrize(
    "found, gguf, safe, both",
    [
        (mac(**METAL), "llama_cpp", "mlx", "mlx"),
        (CUDA, "llama_cpp", "transformers", "llama_cpp"),
        (machine(H200 | answered(torch=CUDA_TORCH)), "llama_cpp", "transformers", "transformers"),
        (
            machine(answered(torch=engine("rocm", built="rocm 6.4")), bus=RADEON),
            "llama_cpp",
            "transformers",
            "transformers",
        ),
        (machine(answered(llama_cpp=engine("vulkan"))), "llama_cpp", "openvino", "llama_cpp"),
        (machine(ARC), "llama_cpp", "openvino", "openvino"),
        (machine(answered(torch=engine("xpu"))), "llama_cpp", "transformers", "transformers"),
        (machine(H200), "llama_cpp", "openvino", "llama_cpp"),
        (machine(), "llama_cpp", "openvino", "llama_cpp"),
        (machine(versions=TORCH_AND_MLX), None, "transformers", "transformers"),
        (machine(versions={"mlx": "1", "mlx-lm": "1"}), None, "mlx", "mlx"),
        (machine(versions=NO_LLAMA), None, "openvino", "openvino"),
    ],
)
def test_choice(found, gguf, safe, both, monkeypatch):
    monkeypatch.delenv(hardware.VARIABLE, raising=False)
    for files, expected in ((GGUF, gguf), (SAFE, safe), (BOTH, both)):
        if expected is not None:
            assert found.choose(files).backend == found.choose(files, "auto").backend == expected, files
            continue
        with pytest.raises(BackendError, match="no backend can run a model here"):
            found.choose(files)
    if status(found, "reference").devices:
        assert found.choose().backend == "reference"


def test_the_shipped_model_by_its_folder(monkeypatch):
    monkeypatch.delenv(hardware.VARIABLE, raising=False)
    if not (SHIPPED / "model.safetensors").exists():
        pytest.skip("the shipped model is not there")
    for found in (machine(), machine(versions={"numpy": "2"})):
        assert found.choose(find_model()).backend == "reference"


def test_the_shipped_model_without_numpy(monkeypatch):
    monkeypatch.delenv(hardware.VARIABLE, raising=False)
    found = machine(versions={name: version for name, version in ALL.items() if name != "numpy"})
    assert found.choose().backend == "llama_cpp"


def test_argument_before_variable_before_order(monkeypatch):
    found = machine(versions={name: version for name, version in ALL.items() if name != "mlx-lm"})
    monkeypatch.setenv(hardware.VARIABLE, "openvino")
    for choice in (found.choose(SAFE), found.choose(), found.choose(SAFE, "auto")):
        assert choice.backend == "openvino"
    assert found.choose(SAFE, "transformers").backend == "transformers"
    assert found.choose(SAFE).why == "the environment variable BPELAB_BACKEND asks for it"
    monkeypatch.setenv(hardware.VARIABLE, "mlx")
    with pytest.raises(BackendError, match=r"BPELAB_BACKEND asks for the backend mlx, .*mlx-lm is not installed"):
        found.choose(SAFE)
    monkeypatch.setenv(hardware.VARIABLE, "ollama")
    with pytest.raises(BackendError, match="asks for the backend 'ollama'; there are mlx, llama_cpp"):
        found.choose(SAFE)
    for nothing in ("", "auto"):
        monkeypatch.setenv(hardware.VARIABLE, nothing)
        assert found.choose(GGUF).backend == "llama_cpp"
    with pytest.raises(BackendError, match=r"llama\.cpp runs GGUF files"):
        found.choose(SAFE, "llama_cpp")


def test_no_backend_for_a_form(monkeypatch):
    monkeypatch.delenv(hardware.VARIABLE, raising=False)
    with pytest.raises(BackendError) as caught:
        machine(versions={}).choose(GGUF)
    assert "no backend can run a model here" in str(caught.value)
    assert str(caught.value).count("\n- ") == 5


def test_the_order_knows_every_backend():
    from bpelab.chat.backends import BACKENDS

    assert {name for name, _ in PREFERENCE} == {entry.name for entry in machine().backends}
    assert tuple(entry.name for entry in machine().backends) == BACKENDS


# What is printed

MACHINES = [
    machine(H200 | VULKAN | ARC, bus=RADEON),
    machine(
        {"nvidia-smi": ProbeOutput("", "nvidia-smi gave no answer in 20 s and was stopped")}, versions={}, compilers=[]
    ),
    mac(**METAL),
    mac("sysctl-rosetta.txt", "x86_64"),
]


@pytest.mark.parametrize("found", MACHINES)
def test_report(found, monkeypatch):
    monkeypatch.delenv(hardware.VARIABLE, raising=False)
    text = report.report(found)
    assert max(len(line) for line in text.splitlines() if "pip install" not in line and "python -c" not in line) <= 100
    for device in found.devices:
        assert device.name[: report.NAME - 3] in text
    flat = " ".join(text.split())
    for entry in found.backends:
        assert entry.name in text
        if entry.problem:
            assert entry.problem in flat and entry.install in flat
    for problem in found.problems:
        assert problem in flat
    assert "bpelab takes " in text or "No backend can run" in text


@pytest.mark.parametrize(
    ("free", "said"), [(8, "Qwen/Qwen2.5-Coder"), (2, "gemma-3-270m-q4_k_m.gguf"), (0, "None of the models")]
)
def test_a_model_that_fits(free, said):
    """One model, with the commands that get and start it; `--all` has the others, and builds for each GPU."""
    found = replace(machine(H200), free_bytes=free * GIB)
    text, whole = report.report(found), report.report(found, complete=True)
    assert said in text
    assert [command in text for command in ("bpelab chat Qwen", "bpelab complete gemma")] == [free == 8, free == 2]
    for kind in ("CUDA", "HIP", "VULKAN", "SYCL"):
        assert f"-DGGML_{kind}=on" in whole
    assert "--device NPU" in whole and "Metal" in whole and "bpelab complete gemma" in whole
    assert whole.index("NVIDIA (CUDA), this machine") < whole.index("AMD (ROCm);")


@pytest.mark.parametrize("found", MACHINES)
def test_json_round_trip(found, monkeypatch):
    monkeypatch.delenv(hardware.VARIABLE, raising=False)
    data = report.machine_to_dict(found)
    assert json.loads(json.dumps(data)) == data
    usable = [entry.pop("usable") for entry in data["backends"]]
    assert usable == [bool(entry.devices) for entry in found.backends]
    try:
        assert data.pop("choice") == asdict(found.choose())
    except BackendError as error:
        assert str(error).startswith("no backend")
    backends = tuple(BackendStatus(**entry | {"devices": tuple(entry["devices"])}) for entry in data.pop("backends"))
    devices = tuple(Device(**entry) for entry in data.pop("devices"))
    assert Machine(**data | {"problems": tuple(data["problems"])}, backends=backends, devices=devices) == found


def test_card():
    tags = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            tags.append(tag)

        def handle_endtag(self, tag):
            assert tags.pop() == tag

    found = replace(MACHINES[0], devices=(Device("cpu", '<script>alert(1)</script> & "co"'),), system="<b>")
    html = found._repr_html_()
    Reader().feed(html)
    assert not tags
    assert "<script" not in html and "<b>" not in html and "&lt;script&gt;alert(1)&lt;/script&gt; &amp;" in html


# All of it

LIBRARIES = ("torch", "llama_cpp", "mlx", "openvino", "numpy")
TOOLS = ("nvidia-smi", "vulkaninfo")


def fake_machine(folder, monkeypatch, script, library):
    """Tools and libraries on paths of their own, all of which behave as told."""
    programs, packages = folder / "bin", folder / "packages"
    programs.mkdir()
    for name in TOOLS:
        (programs / name).write_text(f"#!{sys.executable}\n{script}\n")
        (programs / name).chmod(0o755)
    for package in (*LIBRARIES, "mlx_lm", "optimum", "transformers"):
        linux(packages, {f"{package}/__init__.py": library, f"{package}/core.py": ""})
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(tools, "FOLDERS", ())
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setattr(hardware, "_known", None)


@pytest.mark.slow
@posix
@pytest.mark.parametrize("what", sorted(SCRIPTS))
def test_machines_where_all_is_broken(tmp_path, monkeypatch, what):
    """Whatever all tools and all libraries do, the answer comes in time, and says of each what it did."""
    monkeypatch.delenv(hardware.VARIABLE, raising=False)
    fake_machine(tmp_path, monkeypatch, SCRIPTS[what], SCRIPTS[what])
    limit = 1.5 if what in ("hangs", "ignores", "closes") else 120.0
    start = time.monotonic()
    found = detect(time_limit=limit, fresh=True)
    assert time.monotonic() - start < 300  # what hangs sleeps for 600 s
    assert found.cores >= 1 and found.devices[0].kind == "cpu"
    assert [device.kind for device in found.devices[1:] if device.kind != "cuda"] == []
    if what not in ("silent", "rubbish"):
        assert {problem.split()[0] for problem in found.problems} >= set(TOOLS)
    for entry in found.backends:
        assert entry.installed and not entry.devices and entry.problem and entry.install
    with pytest.raises(BackendError, match="no backend can run the shipped model here"):
        found.choose()
    assert report.report(found) and json.dumps(report.machine_to_dict(found))


@posix
def test_a_forbidden_tool_and_one_that_is_no_program(tmp_path, monkeypatch):
    fake_machine(tmp_path, monkeypatch, "pass", "raise ImportError('libcuda.so.1: cannot open shared object file')")
    (tmp_path / "bin/nvidia-smi").chmod(0o000)
    (tmp_path / "bin/vulkaninfo").write_bytes(b"\x7fELF rubbish")
    found = detect(time_limit=120, fresh=True)
    assert any(problem.startswith("vulkaninfo can't be run: ") for problem in found.problems)
    for entry in found.backends:
        assert "libcuda.so.1: cannot open shared object file" in entry.problem
        assert "force-reinstall" in entry.install or "reinstall-package" in entry.install


STAND_INS = {
    "torch/__init__.py": """
import warnings
from types import SimpleNamespace as Some
__version__ = "2.13.0"
version, xpu = Some(cuda="13.0", hip=None), Some(is_available=lambda: False)
def properties(index):
    return Some(name=f"GPU {index}", total_memory=80 << 30)
def is_available():
    warnings.warn("a warning")
    return True
cuda = Some(is_available=is_available, device_count=lambda: 3, get_device_properties=properties)
backends = Some(mps=Some(is_available=lambda: False))
def ones(count, device):
    print("a library talks")
    if device == "cuda:1":
        raise RuntimeError("no kernel image is available")
    return 1
""",
    "openvino/__init__.py": """
__version__ = "2026.4"
class Core:
    available_devices = ["CPU", "GPU.0", "GPU.1", "NPU"]
    def get_property(self, device, name):
        if device == "GPU.1" and name != "FULL_DEVICE_NAME":
            raise RuntimeError("no such property")
        return f"Intel {device}" if name == "FULL_DEVICE_NAME" else str(16 << 30)
""",
    "mlx/__init__.py": "",
    "mlx/core.py": """
from types import SimpleNamespace as Some
metal = Some(is_available=lambda: True)
device_info, ones = lambda: {"device_name": "Apple M2"}, lambda count: Array()
class Array:
    __add__ = lambda self, other: self
    item = lambda self: 2
""",
    "numpy/__init__.py": "raise ImportError('DLL load failed')",
    "llama_cpp/__init__.py": "import os; os.abort()",
}


@posix
def test_libraries_by_stand_ins(tmp_path, monkeypatch):
    """The processes that import libraries, with libraries that have what this machine hasn't."""
    fake_machine(tmp_path, monkeypatch, "pass", "")
    linux(tmp_path / "packages", STAND_INS)
    found = detect(time_limit=120, fresh=True)
    assert status_of(found, "transformers") == (("cuda: GPU 0", "cuda: GPU 2", "cpu"), None)
    assert status(found, "openvino").devices == (
        "openvino-gpu: Intel GPU.0",
        "openvino-gpu: Intel GPU.1",
        "openvino-npu: Intel NPU",
        "cpu",
    )
    sizes = [device.memory_bytes for device in found.devices if device.kind.startswith("openvino")]
    assert sizes == [16 * GIB, None, 16 * GIB]
    assert status_of(found, "reference") == ((), "ImportError: DLL load failed")
    assert status_of(found, "llama_cpp") == ((), "llama_cpp crashed (SIGABRT)")
    if found.system == "Linux":
        assert status_of(found, "mlx") == (("metal: Apple M2", "cpu"), None)


@posix
def test_a_recorded_machine_through_real_processes(tmp_path, monkeypatch):
    fake_machine(
        tmp_path, monkeypatch, f"print(open({str(RECORDED / 'nvidia-smi-h200.csv')!r}).read())", "raise OSError"
    )
    found = detect(time_limit=120, fresh=True)
    assert [device.name for device in found.devices[1:]] == ["NVIDIA H200"] * 2
    assert status(found, "llama_cpp").install.startswith('CMAKE_ARGS="-DGGML_CUDA=on" pip')


def test_no_processes_at_all(monkeypatch):
    """A browser's Python can start no processes."""
    monkeypatch.setattr(hardware, "_known", None)
    monkeypatch.setattr(hardware.sys, "platform", "emscripten")

    def refuse(*_, **__):
        raise OSError(138, "emscripten does not support processes.")

    monkeypatch.setattr(processes.subprocess, "Popen", refuse)
    found = detect(fresh=True)
    assert found.system == "a browser" and found.cores >= 1
    assert status_of(found, "reference") == (("cpu",), None)
    assert found.choose().backend == "reference"


def test_a_frozen_program_does_not_start_itself(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not set(LIBRARIES) & set(probe_commands("Linux", ALL))


# This machine


def test_here(monkeypatch):
    monkeypatch.setattr(hardware, "_known", None)
    monkeypatch.delenv(hardware.VARIABLE, raising=False)
    before = set(sys.modules)
    found = detect()
    heavy = {"torch", "llama_cpp", "mlx", "openvino", "transformers"} & (set(sys.modules) - before)
    assert not heavy
    assert all(problem == sanitize(problem, 1000) != "" for problem in found.problems)
    assert 1 <= found.cores <= (os.cpu_count() or 1)
    if Path("/proc/meminfo").exists():
        assert 0 < found.free_bytes <= found.memory_bytes <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert status(found, "reference").devices == ("cpu",)
    assert detect() is found  # asked once
    assert detect(fresh=True) is not found
    for entry in found.backends:
        assert bool(entry.installed) == (
            installed_version(*next(iter(ENGINES[entry.name].packages.items()))) is not None
        )


def test_run(monkeypatch, capsys):
    monkeypatch.setattr(hardware, "_known", MACHINES[0])
    assert report.run(False) == 0
    assert capsys.readouterr().out == report.report(MACHINES[0]) + "\n"
    assert report.run(as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == report.machine_to_dict(MACHINES[0])
