"""What detection asks: parsers on recorded outputs (their README says where the forms are from), the host's files, and
processes that crash, hang and print rubbish."""

import ctypes
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from bpelab._support.install import install_command
from bpelab.chat.hardware import amd, apple, host, nvidia, processes, report, survey, vulkan
from bpelab.chat.hardware.detect import Device
from bpelab.chat.hardware.device import MIB, parse_count, sanitize
from bpelab.chat.hardware.processes import MOST, ProbeOutput, run_probes
from bpelab.chat.hardware.survey import parse_marked

from ..conftest import amount
from .machines import CPU_ONLY, GIB, RECORDED, SCRIPTS, answered, linux, machine, posix, recorded, status

# Parsers


def test_nvidia():
    assert nvidia.nvidia(recorded("nvidia-smi-h200.csv")) == [
        Device("cuda", "NVIDIA H200", 143771 * MIB, 143155 * MIB, "570.86.15"),
        Device("cuda", "NVIDIA H200", 143771 * MIB, 20011 * MIB, "570.86.15"),
    ]
    assert nvidia.nvidia(recorded("nvidia-smi-windows-two-rtx.csv")) == [
        Device("cuda", "NVIDIA GeForce RTX 4090", 24564 * MIB, 23028 * MIB, "560.94"),
        Device("cuda", "NVIDIA GeForce RTX 3060", 12288 * MIB, 11909 * MIB, "560.94"),
    ]
    assert nvidia.nvidia(recorded("nvidia-smi-gb10.csv")) == [Device("cuda", "NVIDIA GB10", None, None, "580.95.05")]
    assert nvidia.nvidia("NVIDIA T4, 15360, 0, 535.1\n")[0].free_bytes == 0
    for rubbish in ("", "No devices were found\n", "a, b, c, d\n", "GPU, -1, 5, 1.0\n", "x" * 100_000):
        assert nvidia.nvidia(rubbish) == []


def test_nvidia_mismatch_says_restart():
    said = {
        "nvidia-smi": ProbeOutput(
            recorded("nvidia-smi-mismatch.txt"),
            processes._failure("nvidia-smi", recorded("nvidia-smi-mismatch.txt"), 18),
            True,
        )
    }
    (problem,) = machine(said).problems
    assert problem.startswith("nvidia-smi failed: Failed to initialize NVML: Driver/library version mismatch")
    assert problem.endswith("restart it")
    assert not [device for device in machine(said).devices if device.kind == "cuda"]


def test_amd():
    assert amd.rocm_smi(recorded("rocm-smi-mi300x.json")) == [
        Device("rocm", "AMD Instinct MI300X", 206141652992, 206141652992 - 297480192, "6.8.5"),
        Device("rocm", "AMD Instinct MI300X", 206141652992, 141652992, "6.8.5"),
    ]
    assert amd.rocm_smi(recorded("rocm-smi-radeon.json")) == [
        Device("rocm", "Radeon RX 7900 XT", 21458059264, 21458059264 - 27856896)
    ]
    assert amd.rocm_smi(recorded("rocm-smi-old.json")) == [
        Device("rocm", "Arcturus GL-XL [AMD Instinct MI100]", 34342961152, 34336178176, "4.18.0-348.12.2.el8_5.x86_64"),
        Device("rocm", "AMD GPU", None, None, "4.18.0-348.12.2.el8_5.x86_64"),
    ]
    assert amd.amd_smi(recorded("amd-smi-mi300x.json")) == [
        Device("rocm", "AMD Instinct MI300X", 196592 * MIB, None, "6.12.12")
    ]
    assert amd.amd_smi(recorded("amd-smi-radeon.json")) == [
        Device("rocm", "AMD Radeon RX 7900 XTX", 24560 * MIB, None, "6.3.6"),
        Device("rocm", "AMD GPU"),
    ]
    assert amd.rocminfo(recorded("rocminfo-radeon.txt")) == [
        Device("rocm", "Radeon RX 7900 XTX", 25149440 * 1024),
        Device("rocm", "gfx1036"),
    ]


def test_amd_is_counted_once():
    """Three tools and Linux say the same; the one that knows most is believed."""
    said = {
        "rocm-smi": ProbeOutput(recorded("rocm-smi-mi300x.json")),
        "amd-smi": ProbeOutput(recorded("amd-smi-mi300x.json")),
        "rocminfo": ProbeOutput(recorded("rocminfo-radeon.txt")),
    }
    nodes = [{"name": "gfx942", "memory": 5 * GIB}]

    def gpus(said):
        return [device for device in machine(said, kfd=nodes).devices if device.kind == "rocm"]

    assert [device.free_bytes for device in gpus(said)] == [205844172800, 141652992]
    del said["rocm-smi"]
    assert [device.memory_bytes for device in gpus(said)] == [196592 * MIB]
    said["amd-smi"] = ProbeOutput("Traceback", "amd-smi failed: Traceback (exit code 1)", True)
    assert gpus(said)[0].name == "Radeon RX 7900 XTX"
    assert gpus({}) == [Device("rocm", "AMD GPU gfx942", 5 * GIB)]


def test_apple():
    mac = apple.sysctl(recorded("sysctl-m2-max.txt"))
    assert mac == {"cpu": "Apple M2 Max", "memory": 64 * GIB, "cores": 12, "apple": True, "translated": False}
    free = (123456 + 345678 + 12345) * 16384
    assert apple.vm_stat(recorded("vm_stat.txt")) == free
    profile = apple.cards(recorded("system_profiler-m2-max.json"))
    assert apple.graphics(mac, profile, free) == [
        Device("mlx", "Apple M2 Max (38-core GPU)", 64 * GIB, free, "Metal 3")
    ]
    assert apple.graphics(mac, [], None) == [Device("mlx", "Apple M2 Max", 64 * GIB)]
    assert apple.graphics(apple.sysctl(recorded("sysctl-intel.txt")), profile, free) == []
    assert apple.vm_stat("") is None


def test_vulkan():
    assert vulkan.vulkan(recorded("vulkaninfo-amd.txt")) == [
        Device("vulkan", "AMD Radeon RX 7900 XTX (RADV NAVI31)", driver="radv Mesa 24.0.9-0ubuntu0.2")
    ]
    assert vulkan.vulkan(recorded("vulkaninfo-software.txt")) == []
    basic = "GPU0:\n\tdeviceType = PHYSICAL_DEVICE_TYPE_OTHER\n\tdeviceName = Microsoft Basic Render Driver\n"
    assert vulkan.vulkan(basic) == []
    twice = recorded("vulkaninfo-amd.txt").replace(
        "deviceUUID         = 00000000-0300", "deviceUUID = 00000000-0400", 1
    )
    assert len(vulkan.vulkan(twice)) == 2


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
    bus = [
        {"class": "030000", "vendor": "8086", "device": "56a0", "driver": "xe"},
        {"class": "120000", "vendor": "8086", "device": "7d1d", "driver": None},
    ]
    found = machine(pci=bus, versions={})
    assert found.devices[1:] == (
        Device("openvino-gpu", "Intel GPU 8086:56a0", driver="xe"),
        Device("openvino-npu", "Intel NPU 8086:7d1d"),
    )
    assert status(found, "openvino").problem == "openvino, optimum-intel and torch are not installed"
    assert status(found, "openvino").install == install_command("openvino")
    seen = status(machine(pci=bus[:1]), "openvino")
    assert seen.devices == ("cpu",)
    assert seen.problem.startswith("OpenVINO doesn't see Intel GPU 8086:56a0: Intel's compute driver")
    shut = status(machine(pci=bus[:1], closed=["/dev/dri/renderD128"]), "openvino").problem
    assert "may not open /dev/dri/renderD128 (sudo usermod -aG render $USER" in shut


def test_gpus_on_the_bus_without_a_driver():
    nvidia_card = {"class": "030200", "vendor": "10de", "device": "2335", "driver": None}
    amd_card = {"class": "120000", "vendor": "1002", "device": "74a1", "driver": None}
    problems = machine(pci=[nvidia_card, amd_card, nvidia_card]).problems
    assert [problem.split(",")[0] for problem in problems] == [
        "an NVIDIA GPU (10de:2335) is in this machine",
        "an AMD GPU (1002:74a1) is in this machine",
    ]
    said = {"nvidia-smi": ProbeOutput(recorded("nvidia-smi-h200.csv"))}
    assert machine(said, pci=[nvidia_card]).problems == ()


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.iterdir() if path.suffix != ".md"))
def test_parsers_bear_anything(name):
    """Whatever bytes are lost or changed in an answer: a machine, and sentences that can be printed."""
    rng = random.Random(name)
    tool = next(
        (
            tool
            for tool in ("nvidia-smi", *survey.ROCM, "sysctl", "vm_stat", "system_profiler", "vulkaninfo")
            if name.startswith(tool.removesuffix("-radeon"))
        ),
        "openvino",
    )
    data = (RECORDED / name).read_bytes()
    for _ in range(amount(60, 2_000)):
        broken = bytearray(data)
        for _ in range(rng.choice((1, 3, 30))):
            place = rng.randrange(len(broken) + 1)
            broken[place : place + rng.choice((0, 1, 9, 200))] = rng.randbytes(rng.choice((0, 1, 5)))
        text = (host.MARK if tool == "openvino" else "") + broken.decode("utf-8", "replace")
        found = machine(
            {tool: ProbeOutput("\n" + text)},
            system="macOS" if tool in ("sysctl", "vm_stat", "system_profiler") else "Linux",
        )
        assert report.report(found).encode("utf-8") and json.dumps(report.as_json(found))
        for device in found.devices:
            assert device.name == sanitize(device.name)
            for size in (device.memory_bytes, device.free_bytes):
                assert size is None or 0 <= size < 1 << 56


RUBBISH = [
    "", "{", "[" * 200_000, "null", "{}", "[]", "[1]", "\0" * 999, "9" * 100_000, "\ud800",
    '{"card0": 1}', '{"gpu_data": {"a": 1}}', '{"SPDisplaysDataType": 3}', "GPU0:\nGPU1:\n", "Agent 1\n",
    '{"devices": [3]}', '{"devices": 3, "kind": []}',
]  # fmt: skip


@pytest.mark.parametrize("text", RUBBISH)
def test_rubbish_of_every_tool(text):
    tools = ("nvidia-smi", *survey.ROCM, "sysctl", "vm_stat", "system_profiler", "vulkaninfo", *CPU_ONLY)
    for mark in ("", "\n" + host.MARK):
        found = machine({tool: ProbeOutput(mark + text) for tool in tools}, system="macOS")
        assert [device.kind for device in found.devices] == ["cpu"]
        assert not any(entry.devices for entry in found.backends)
        json.dumps(report.as_json(found)).encode("ascii")
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


MEMINFO = "MemTotal:       32000000 kB\nMemFree:         1000000 kB\nMemAvailable:   20000000 kB\n"


def test_memory_without_limits(tmp_path):
    assert host.memory(linux(tmp_path, {"proc/meminfo": MEMINFO})) == (32000000 * 1024, 20000000 * 1024)
    assert host.memory(tmp_path / "nothing") == (None, None)


@pytest.mark.parametrize("inside", [True, False])  # in a container the group's path is not below /sys/fs/cgroup
def test_memory_in_a_container(tmp_path, inside):
    folder = "sys/fs/cgroup" if inside else "sys/fs/cgroup/batch/job"
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "0::/batch/job/step\n",
        f"{folder}/memory.max": str(8 * GIB),
        f"{folder}/memory.current": str(5 * GIB),
        f"{folder}/memory.stat": f"anon 1\ninactive_file {2 * GIB}\nslab 3\n",
        "sys/fs/cgroup/batch/job/step/memory.max": "max\n",
    }
    assert host.memory(linux(tmp_path, files)) == (8 * GIB, 5 * GIB)


def test_memory_in_cgroups_of_version_1(tmp_path):
    files = {
        "proc/meminfo": MEMINFO,
        "proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": str(2 * GIB),
        "sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": str(3 * GIB),
    }
    assert host.memory(linux(tmp_path, files)) == (2 * GIB, 0)


def test_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(host.os, "sched_getaffinity", lambda _: set(range(12)), raising=False)
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
    assert machine(cpu=None, architecture="aarch64").cpu == "CPU of aarch64"


def test_the_bus_and_amds_driver(tmp_path):
    files = {
        "sys/bus/pci/devices/0000:00:02.0/class": "0x030000\n",
        "sys/bus/pci/devices/0000:00:02.0/vendor": "0x8086\n",
        "sys/bus/pci/devices/0000:00:02.0/device": "0x56a0\n",
        "sys/bus/pci/drivers/i915/module": "",
        "sys/bus/pci/devices/0000:00:1f.0/class": "0x060100\n",
        "sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 24\nsimd_count 0\n",
        "sys/class/kfd/kfd/topology/nodes/1/properties": "simd_count 192\ngfx_target_version 110000\n",
        "sys/class/kfd/kfd/topology/nodes/1/mem_banks/0/properties": "heap_type 1\nsize_in_bytes 25753026560\n",
        "sys/class/kfd/kfd/topology/nodes/2/properties": "simd_count 440\ngfx_target_version 90010\n",
    }
    linux(tmp_path, files)
    (tmp_path / "sys/bus/pci/devices/0000:00:02.0/driver").symlink_to("../../drivers/i915")
    assert host.pci(tmp_path) == [{"class": "030000", "vendor": "8086", "device": "56a0", "driver": "i915"}]
    assert host.kfd(tmp_path) == [{"name": "gfx1100", "memory": 25753026560}, {"name": "gfx90a", "memory": None}]
    assert amd.kfd(host.kfd(tmp_path))[1] == Device("rocm", "AMD GPU gfx90a")


@posix
def test_closed_device_files(tmp_path, monkeypatch):
    linux(tmp_path, {"dev/kfd": "", "dev/dri/renderD128": "", "dev/dri/card0": ""})
    assert host.inaccessible_devices(tmp_path) == []
    monkeypatch.setattr(host.os, "access", lambda path, mode: path.name != "kfd" and mode == os.R_OK | os.W_OK)
    assert host.inaccessible_devices(tmp_path) == ["/dev/kfd"]


def test_windows_memory():
    """MEMORYSTATUSEX, as its documentation lays it out."""
    names = ("total", "free", "page_total", "page_free", "virtual_total", "virtual_free", "extended_free")

    class Status(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_uint32),
            ("load", ctypes.c_uint32),
            *((name, ctypes.c_uint64) for name in names),
        ]

    filled = Status(64, 42, 33885765632, 19686584320, 45 * GIB, 20 * GIB, 1 << 47, 1 << 46, 0)
    assert ctypes.sizeof(filled) == 64
    assert host.windows_memory(bytes(filled)) == (33885765632, 19686584320)


def test_windows_by_a_kernel_of_paper(monkeypatch):
    """A process that may use three of the processors; memory is left out where the kernel doesn't tell it."""

    def fill(status):
        struct.pack_into("<LLQQQQQQQ", status, 0, 64, 42, 32 * GIB, 20 * GIB, 0, 0, 0, 0, 0)
        return tells

    def masks(process, mine, all_of_them):
        assert process.value == ctypes.c_void_p(-1).value
        mine._obj.value, all_of_them._obj.value = 0b10110, 0b11111
        return tells

    class Key:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    kernel = SimpleNamespace(GlobalMemoryStatusEx=fill, GetProcessAffinityMask=masks, GetCurrentProcess=lambda: -1)
    registry = SimpleNamespace(HKEY_LOCAL_MACHINE=0, OpenKey=lambda *_: Key(), QueryValueEx=lambda *_: ("Abacus", 1))
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: kernel, raising=False)
    monkeypatch.setitem(sys.modules, "winreg", registry)
    monkeypatch.setenv("PROCESSOR_ARCHITECTURE", "AMD64")
    tells = 1
    found = host.windows()
    assert found == {"architecture": "AMD64", "memory": 32 * GIB, "free": 20 * GIB, "cores": 3, "cpu": "Abacus"}
    tells = 0
    assert host.windows() == {"architecture": "AMD64", "cores": os.cpu_count(), "cpu": "Abacus"}


def test_a_system_that_does_not_tell_the_processors_of_a_process(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert host.cores(tmp_path) == 1


def test_the_marked_line():
    assert parse_marked(f'noise {{}}\n{host.MARK}{{"a": 1}}\nfarewell'[: -len("farewell")]) == {"a": 1}
    for text in ("", "{}", f"{host.MARK}", f"\n{host.MARK}[1]"):
        with pytest.raises(ValueError):
            parse_marked(text)


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
def test_what_a_process_started_holds_nobody_up(tmp_path, monkeypatch, away):
    """A child that keeps the pipe open ends with its group; one in a session of its own is left, and not waited for."""
    if not away:
        monkeypatch.setattr(processes, "GRACE", 60.0)
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(900)'], "
        f"start_new_session={away}); open({str(note)!r}, 'w').write(str(child.pid)); print('an answer', flush=True)"
    )
    start = time.monotonic()
    said = run_probes({"parent": [sys.executable, "-c", code]}, 5.0)["parent"]
    assert time.monotonic() - start < 600  # the child sleeps for 900 s
    pid = int(note.read_text())
    if away:
        assert running(pid)
        os.kill(pid, signal.SIGKILL)
        assert said.problem == "parent gave no answer in 5 s and was stopped"
    else:
        end = time.monotonic() + 60
        while running(pid) and time.monotonic() < end:
            time.sleep(0.01)
        assert not running(pid)
        assert said == ProbeOutput("an answer\n")


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
