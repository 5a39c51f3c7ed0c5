"""What detection asks: parsers on recorded outputs (their README says where the forms are from), the host's files, and
processes that crash, hang and print rubbish."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from bpelab._support.install import install_command
from bpelab.chat.hardware import host, pci, processes, report, tools
from bpelab.chat.hardware.detect import Device, library_answer
from bpelab.chat.hardware.device import MIB, parse_count, sanitize
from bpelab.chat.hardware.libraries import MARK
from bpelab.chat.hardware.pci import Card
from bpelab.chat.hardware.processes import MOST, ProbeOutput, run_probes

from ..conftest import amount
from .machines import CPU, CPU_ONLY, GIB, RECORDED, SCRIPTS, answered, linux, machine, posix, recorded, status

# Parsers


def test_nvidia():
    assert tools.nvidia_smi(recorded("nvidia-smi-h200.csv")) == [
        Device("cuda", "NVIDIA H200", 143771 * MIB, 143155 * MIB, "570.86.15"),
        Device("cuda", "NVIDIA H200", 143771 * MIB, 20011 * MIB, "570.86.15"),
    ]
    assert tools.nvidia_smi(recorded("nvidia-smi-windows-two-rtx.csv")) == [
        Device("cuda", "NVIDIA GeForce RTX 4090", 24564 * MIB, 23028 * MIB, "560.94"),
        Device("cuda", "NVIDIA GeForce RTX 3060", 12288 * MIB, 11909 * MIB, "560.94"),
    ]
    assert tools.nvidia_smi(recorded("nvidia-smi-gb10.csv")) == [Device("cuda", "NVIDIA GB10", None, None, "580.95.05")]
    assert tools.nvidia_smi("NVIDIA T4, 15360, 0, 535.1\n")[0].free_bytes == 0
    for rubbish in ("", "No devices were found\n", "a, b, c, d\n", "GPU, -1, 5, 1.0\n", "x" * 100_000):
        assert tools.nvidia_smi(rubbish) == []


def test_nvidia_mismatch_says_restart():
    text = recorded("nvidia-smi-mismatch.txt")
    said = {"nvidia-smi": ProbeOutput(text, f"nvidia-smi failed: {text.splitlines()[0]} (exit code 18)", True)}
    (problem,) = machine(said).problems
    assert problem.startswith("nvidia-smi failed: Failed to initialize NVML: Driver/library version mismatch")
    assert problem.endswith("restart it")
    assert not [device for device in machine(said).devices if device.kind == "cuda"]


def test_macs():
    assert tools.sysctl(recorded("sysctl-m2-max.txt")) == ("Apple M2 Max", True)
    assert tools.sysctl(recorded("sysctl-rosetta.txt")) == ("VirtualApple @ 2.50GHz", True)
    assert tools.sysctl(recorded("sysctl-intel.txt")) == ("Intel(R) Core(TM) i9-9980HK CPU @ 2.40GHz", False)
    assert tools.sysctl("") == (None, False)


def test_vulkan():
    assert tools.vulkaninfo(recorded("vulkaninfo-amd.txt")) == [
        Device("vulkan", "AMD Radeon RX 7900 XTX (RADV NAVI31)", driver="radv Mesa 24.0.9-0ubuntu0.2")
    ]
    assert tools.vulkaninfo(recorded("vulkaninfo-software.txt")) == []
    basic = "GPU0:\n\tdeviceType = PHYSICAL_DEVICE_TYPE_OTHER\n\tdeviceName = Microsoft Basic Render Driver\n"
    assert tools.vulkaninfo(basic) == []
    twice = recorded("vulkaninfo-amd.txt").replace(
        "deviceUUID         = 00000000-0300", "deviceUUID = 00000000-0400", 1
    )
    assert len(tools.vulkaninfo(twice)) == 2


def test_intel():
    said = answered(openvino=json.loads(recorded("openvino-arc.json")))
    found = machine(said)
    assert found.devices[1:] == (
        Device("openvino-gpu", "Intel(R) Arc(TM) Graphics (iGPU)", 31177965568),
        Device("openvino-gpu", "Intel(R) Arc(TM) A770 Graphics (dGPU)", 16225243136),
        Device("openvino-npu", "Intel(R) AI Boost", 34359738368),
    )
    assert status(found, "openvino").kinds == ("openvino-gpu", "openvino-gpu", "openvino-npu", "cpu")
    assert status(found, "openvino").problem is None


def test_intel_without_openvino_or_its_driver():
    """The bus knows numbers; OpenVINO is told to be installed, or why it sees nothing."""
    gpu = Device("openvino-gpu", "Intel DG2 [Arc A770]", driver="xe")
    npu = Device("openvino-npu", "Intel 8086:7d1d")
    found = machine(bus=[Card(gpu), Card(npu)], versions={})
    assert found.devices[1:] == (gpu, npu)
    assert status(found, "openvino").problem == "openvino, optimum-intel and torch are not installed"
    assert status(found, "openvino").install == install_command("openvino")
    why = "Intel's compute driver for it is not installed, or is too old"
    said = answered(openvino={"devices": [CPU], "why": why})
    seen = status(machine(said, bus=[Card(gpu)]), "openvino")
    assert seen.devices == ("cpu",)
    assert seen.problem == f"openvino 1.0 can't use Intel DG2 [Arc A770]: {why}"
    shut = machine(bus=[Card(gpu, "this user may not open /dev/dri/renderD128")])
    assert shut.problems == (
        "Intel DG2 [Arc A770] is in this machine, and can't be used: this user may not open /dev/dri/renderD128",
    )


def test_gpus_on_the_bus_without_a_driver():
    nvidia = Card(Device("cuda", "NVIDIA GH100 [H200]"), pci.MISSING["cuda"])
    amd = Card(Device("rocm", "AMD 1002:74a1"), pci.MISSING["rocm"])
    found = machine(bus=[nvidia, amd, nvidia])
    assert [problem.split(",")[0] for problem in found.problems] == [
        "NVIDIA GH100 [H200] is in this machine",
        "AMD 1002:74a1 is in this machine",
    ]
    assert [device.kind for device in found.devices] == ["cpu"]
    said = {"nvidia-smi": ProbeOutput(recorded("nvidia-smi-h200.csv"))}
    assert machine(said, bus=[nvidia]).problems == ()
    assert machine(answered(torch={"devices": [{"kind": "rocm", "name": "MI300X"}]}), bus=[amd]).problems == ()


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.iterdir() if path.suffix != ".md"))
def test_parsers_bear_anything(name):
    """Whatever bytes are lost or changed in an answer: a machine, and sentences that can be printed."""
    rng = random.Random(name)
    tool = next((tool for tool in tools.COMMANDS if name.startswith(tool)), "openvino")
    data = (RECORDED / name).read_bytes()
    for _ in range(amount(60, 2_000)):
        broken = bytearray(data)
        for _ in range(rng.choice((1, 3, 30))):
            place = rng.randrange(len(broken) + 1)
            broken[place : place + rng.choice((0, 1, 9, 200))] = rng.randbytes(rng.choice((0, 1, 5)))
        text = (MARK if tool == "openvino" else "") + broken.decode("utf-8", "replace")
        found = machine({tool: ProbeOutput("\n" + text)}, system="macOS" if tool == "sysctl" else "Linux")
        assert report.report(found).encode("utf-8") and json.dumps(report.machine_to_dict(found))
        for device in found.devices:
            assert device.name == sanitize(device.name)
            for size in (device.memory_bytes, device.free_bytes):
                assert size is None or 0 <= size < 1 << 56


RUBBISH = [
    "", "{", "[" * 200_000, "null", "{}", "[]", "[1]", "\0" * 999, "9" * 100_000, "\ud800",
    "GPU0:\nGPU1:\n", '{"devices": [3]}', '{"devices": 3, "kind": []}', '{"devices": [{"kind": {}}], "built": []}',
]  # fmt: skip


@pytest.mark.parametrize("text", RUBBISH)
def test_rubbish_of_every_tool(text):
    for mark in ("", "\n" + MARK):
        found = machine({tool: ProbeOutput(mark + text) for tool in (*tools.COMMANDS, *CPU_ONLY)}, system="macOS")
        assert [device.kind for device in found.devices] == ["cpu"]
        assert not any(entry.devices for entry in found.backends)
        json.dumps(report.machine_to_dict(found)).encode("ascii")
        report.report(found).encode("utf-8")


def test_numbers():
    assert parse_count("12", MIB) == 12 * MIB
    for no_number in (
        "",
        "12 MiB",
        "-3",
        "1e9",
        "١",
        None,
        True,
        [],
        0,
        -1,
        float("nan"),
        float("inf"),
        1 << 56,
        "9" * 30,
    ):
        assert parse_count(no_number) is None
    assert sanitize("a\ud800\x1b[31m\u202eb\n") == "a [31m b"
    assert len(sanitize("x" * 10**6)) == 120


# The host


@pytest.fixture
def machine_of_32_gib(monkeypatch):
    monkeypatch.setattr(host, "machine_memory", lambda: (32 * GIB, 20 * GIB))


def test_memory_of_the_machine(monkeypatch):
    """With psutil; unknown without it, and where it fails."""
    memory = SimpleNamespace(total=32 * GIB, available=20 * GIB)
    monkeypatch.setitem(sys.modules, "psutil", SimpleNamespace(virtual_memory=lambda: memory))
    assert host.machine_memory() == (32 * GIB, 20 * GIB)
    for nothing in (None, SimpleNamespace(virtual_memory=lambda: 1 / 0)):
        monkeypatch.setitem(sys.modules, "psutil", nothing)
        assert host.machine_memory() == (None, None)


@pytest.mark.usefixtures("machine_of_32_gib")
def test_memory_without_limits(tmp_path):
    assert host.memory(tmp_path) == (32 * GIB, 20 * GIB)


@pytest.mark.usefixtures("machine_of_32_gib")
@pytest.mark.parametrize("inside", [True, False])  # in a container the group's path is not below /sys/fs/cgroup
def test_memory_in_a_container(tmp_path, inside):
    folder = "sys/fs/cgroup" if inside else "sys/fs/cgroup/batch/job"
    files = {
        "proc/self/cgroup": "0::/batch/job/step\n",
        f"{folder}/memory.max": str(8 * GIB),
        f"{folder}/memory.current": str(5 * GIB),
        f"{folder}/memory.stat": f"anon 1\ninactive_file {2 * GIB}\nslab 3\n",
        "sys/fs/cgroup/batch/job/step/memory.max": "max\n",
    }
    assert host.memory(linux(tmp_path, files)) == (8 * GIB, 5 * GIB)


@pytest.mark.usefixtures("machine_of_32_gib")
def test_memory_in_cgroups_of_version_1(tmp_path):
    files = {
        "proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": str(2 * GIB),
        "sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": str(3 * GIB),
    }
    assert host.memory(linux(tmp_path, files)) == (2 * GIB, 0)


def test_no_limit_in_cgroups_of_version_1_is_no_memory(tmp_path, monkeypatch):
    """Where psutil isn't installed, the memory is unknown, and not 8 billion GiB."""
    monkeypatch.setattr(host, "machine_memory", lambda: (None, None))
    files = {
        "proc/self/cgroup": "4:memory:/docker/abc\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": str(3 * GIB),
    }
    assert host.memory(linux(tmp_path, files)) == (None, None)
    files["sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes"] = str(2 * GIB)
    assert host.memory(linux(tmp_path, files))[0] == 2 * GIB


def test_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(12)), raising=False)
    assert host.cores(tmp_path) == 12
    for quota, cores in (
        ("max 100000", 12),
        ("400000 100000", 4),
        ("150000 100000", 1),
        ("50000 100000", 1),
        ("0 0", 12),
    ):
        files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": quota + "\n"}
        assert host.cores(linux(tmp_path, files)) == cores
    older = linux(tmp_path / "1", {
        "proc/self/cgroup": "1:cpu,cpuacct:/a\n",
        "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "300000\n",
        "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    })  # fmt: skip
    assert host.cores(older) == 3


@pytest.mark.parametrize(
    ("physical", "processors", "quota", "threads"),
    [(4, 8, "max", 4), (2, 2, "max", 2), (4, 3, "max", 3), (8, 16, "300000", 3), (None, 6, "max", 6)],
)
def test_engines_take_the_physical_cores_they_may_use(tmp_path, monkeypatch, physical, processors, quota, threads):
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr(psutil, "cpu_count", lambda logical: processors if logical else physical)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": f"{quota} 100000\n"}
    assert host.threads(linux(tmp_path, files)) == threads


@posix
def test_cores_are_those_of_the_process():
    """`taskset` for the process that asks is one for the probe."""
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor, or a system without affinity")
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    code += "from bpelab.chat.hardware.detect import detect; print(detect().cores)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_processor_names(tmp_path):
    intel = "processor\t: 0\nmodel\t\t: 154\nmodel name\t: 12th Gen Intel(R) Core(TM) i7-1260P\n" * 3
    pi = "processor\t: 0\nCPU part\t: 0xd0b\n\nRevision\t: c04170\nModel\t\t: Raspberry Pi 5 Model B Rev 1.0\n"
    graviton = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\n"
    for text, name in (
        (intel, "12th Gen Intel(R) Core(TM) i7-1260P"),
        (pi, "Raspberry Pi 5 Model B Rev 1.0"),
        (graviton, None),
    ):
        assert host.cpu_name(linux(tmp_path, {"proc/cpuinfo": text})) == name
    assert machine(here=host.Host(None, 4, None, None, "aarch64")).cpu == "CPU of aarch64"


BUS = "sys/bus/pci/devices"
IDS = """# a comment
1002  Advanced Micro Devices, Inc. [AMD/ATI]
\t744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]
\t\t1002 0e3b  Radeon RX 7900 GRE
10de  NVIDIA Corporation
\t2335  GH100 [H200]
8086  Intel Corporation
\t2335  Not the one above
\t56a0  DG2 [Arc A770]
"""


def on_the_bus(root, *entries):
    """A bus of devices: their class, vendor, device, driver."""
    for index, (*values, driver) in enumerate(entries):
        folder = f"{BUS}/0000:{index:02}:00.0"
        linux(root, {f"{folder}/{name}": f"0x{value}\n" for name, value in zip(("class", "vendor", "device"), values)})
        if driver:
            linux(root, {f"sys/bus/pci/drivers/{driver}/module": ""})
            (root / folder / "driver").symlink_to(f"../../drivers/{driver}")
    return root


@posix
def test_the_bus(tmp_path):
    on_the_bus(
        tmp_path,
        ("030000", "1002", "744c", "amdgpu"),
        ("030200", "10de", "2335", None),
        ("030000", "8086", "56a0", "xe"),
        ("120000", "8086", "7d1d", None),
        ("060100", "8086", "7a04", None),
        ("030000", "1234", "1111", "bochs-drm"),
    )
    linux(
        tmp_path,
        {"usr/share/misc/pci.ids": IDS, "dev/kfd": "", f"{BUS}/0000:00:00.0/mem_info_vram_total": "21458059264\n"},
    )
    linux(tmp_path, {f"{BUS}/0000:00:00.0/mem_info_vram_used": "27856896\n"})
    assert pci.cards(tmp_path) == [
        Card(Device("rocm", "AMD Navi 31 [Radeon RX 7900 XT/7900 XTX]", 21458059264, 21458059264 - 27856896, "amdgpu")),
        Card(Device("cuda", "NVIDIA GH100 [H200]"), pci.MISSING["cuda"]),
        Card(Device("openvino-gpu", "Intel DG2 [Arc A770]", driver="xe")),
        Card(Device("openvino-npu", "Intel 8086:7d1d")),
    ]
    assert pci.cards(tmp_path / "nothing") == []


@posix
def test_an_amd_gpu_without_its_driver(tmp_path):
    on_the_bus(tmp_path, ("120000", "1002", "74a1", "amdgpu"))
    assert pci.cards(tmp_path) == [Card(Device("rocm", "AMD 1002:74a1", driver="amdgpu"), pci.MISSING["rocm"])]
    linux(tmp_path, {"dev/kfd": ""})
    assert pci.cards(tmp_path)[0].obstacle is None


@posix
def test_closed_device_files(tmp_path, monkeypatch):
    linux(tmp_path, {"dev/dri/renderD128": "", "dev/dri/renderD129": "", "dev/dri/card0": ""})
    on_the_bus(tmp_path, ("030000", "8086", "56a0", "xe"))
    assert pci.cards(tmp_path)[0].obstacle is None
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != "renderD129" and mode == os.R_OK | os.W_OK)
    assert pci.cards(tmp_path)[0].obstacle == (
        "this user may not open /dev/dri/renderD129 (sudo usermod -aG render $USER, then log in again)"
    )


def test_windows_by_a_registry_of_paper(monkeypatch):
    """The processor's name, and a process that may use three of the processors."""

    class Key:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    registry = SimpleNamespace(HKEY_LOCAL_MACHINE=0, OpenKey=lambda *_: Key(), QueryValueEx=lambda *_: ("Abacus", 1))
    process = SimpleNamespace(cpu_affinity=lambda: [1, 2, 4])
    memory = SimpleNamespace(total=32 * GIB, available=20 * GIB)
    psutil = SimpleNamespace(Process=lambda: process, virtual_memory=lambda: memory)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "winreg", registry)
    monkeypatch.setitem(sys.modules, "psutil", psutil)
    monkeypatch.setattr(host, "read", lambda path: "")
    assert host.describe()[:4] == ("Abacus", 3, 32 * GIB, 20 * GIB)
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert host.cores() == os.cpu_count()


def test_a_system_that_does_not_tell_the_processors_of_a_process(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert host.cores(tmp_path) == 1


def test_the_marked_line():
    assert library_answer("torch", ProbeOutput(f'noise {{}}\n{MARK}{{"a": 1}}\n')) == {"a": 1}
    for text in ("", "{}", MARK, f"\n{MARK}[1]"):
        assert library_answer("torch", ProbeOutput(text))["problem"].startswith("torch gave no answer: ")


# Processes


@posix
@pytest.mark.slow
def test_processes(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 60.0)  # what was printed before the end is read then, however busy it is
    start, endless = time.monotonic(), ("hangs", "ignores", "closes")
    scripts = {name: [sys.executable, "-c", code] for name, code in SCRIPTS.items()}
    said = run_probes({name: scripts.pop(name) for name in endless}, 5.0)
    said |= run_probes(scripts | {"missing": [str(tmp_path / "missing")], "forbidden": [str(tmp_path)]}, 300.0)
    assert time.monotonic() - start < 400  # they sleep for 600 s
    for name in endless:
        assert said[name].problem == f"{name} gave no answer in 5 s and was stopped"
    assert said["hangs"].text == "begin\n"
    assert said["crashes"] == ProbeOutput("half\n", "crashes crashed (SIGSEGV)")
    for name in ("floods", "much"):
        assert said[name].problem == f"{name} printed more than 256 KiB and was stopped"
        assert len(said[name].text) <= MOST
    assert said["rubbish"].problem is None and said["silent"] == ProbeOutput("")
    assert said["fails"].problem == "fails failed: no such device [0m (exit code 9)" and said["fails"].mild
    assert said["missing"].problem == "missing can't be run: No such file or directory"
    assert said["forbidden"].problem == "forbidden can't be run: Permission denied"


def running(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@posix
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
@pytest.mark.parametrize("away", [False, True])
@pytest.mark.slow
def test_what_a_process_started_holds_nobody_up(tmp_path, away):
    """A child ends with its group; one in a session of its own stays, and nobody waits for it."""
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(900)'], "
        f"start_new_session={away}); open({str(note)!r}, 'w').write(str(child.pid)); print('an answer', flush=True)"
    )
    start = time.monotonic()
    said = run_probes({"parent": [sys.executable, "-c", code]}, 5.0)["parent"]
    assert time.monotonic() - start < 600  # the child sleeps for 900 s
    pid = int(note.read_text())
    assert said == ProbeOutput("an answer\n")
    if away:
        assert running(pid)
        os.kill(pid, signal.SIGKILL)
        return
    end = time.monotonic() + 60
    while running(pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert not running(pid)


@posix
@pytest.mark.slow
def test_an_interrupt_leaves_nothing_behind(tmp_path):
    (tmp_path / "sleeper.py").write_text(
        "import os, pathlib, time\n"
        "pathlib.Path(__file__).with_name('written').write_text(str(os.getpid()))\n"
        "pathlib.Path(__file__).with_name('written').rename(pathlib.Path(__file__).with_name('pid'))\n"
        "time.sleep(600)\n"
    )
    (tmp_path / "caller.py").write_text(
        "import _thread, pathlib, sys, threading, time\n"
        "from bpelab.chat.hardware.processes import run_probes\n"
        "here = pathlib.Path(__file__).parent\n"
        "def interrupt():\n"
        "    while not (here / 'pid').exists():\n"
        "        time.sleep(0.01)\n"
        "    _thread.interrupt_main()\n"
        "threading.Thread(target=interrupt).start()\n"
        "try:\n"
        "    run_probes({'sleeper': [sys.executable, str(here / 'sleeper.py')]}, 600)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    shown = subprocess.run(
        [sys.executable, tmp_path / "caller.py"], capture_output=True, text=True, timeout=500, check=True
    )
    assert shown.stdout == "interrupted\n" and shown.stderr == ""
    assert not running(int((tmp_path / "pid").read_text()))
