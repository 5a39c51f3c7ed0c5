"""The C under sanitizers: random models, patterns and texts, wrong tables, threads, and memory that runs out."""

import os
import subprocess
import sys

import pytest

from ..conftest import ROOT, amount
from .instrumented import build, runtime

pytestmark = pytest.mark.slow
ADDRESSES = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-O1", "-g")
CONFORMANCE = "tests/conformance/test_conformance.py tests/conformance/test_tiktoken_ids.py"
SUITE = ["tests/native", f"tests/trainers/test_native.py {CONFORMANCE} tests/encoders/test_superwords.py"]
if os.environ.get("BPELAB_SANITIZE") == "all":  # `make sanitize`: minutes more, most of them in Python
    SUITE += [
        "tests/conformance",
        "tests/formats",
        "tests/encoders tests/streaming tests/core/test_tokenizer.py tests/shards",
    ]
UNDER_A_LIMIT = (
    "tests/conformance/test_conformance.py::test_hostile",
    "tests/trainers/test_native.py::test_memory_that_is_not_there",
    "tests/native/test_piece_cache.py::test_a_long_text_leaves_little_behind",
)
"""They limit or measure memory, of which AddressSanitizer takes terabytes, and gives none back at once."""
ABOUT_TIME = ("tests/native/test_native.py::test_signals_are_looked_for_within_a_piece",)
"""They measure how soon C answers a signal, which the sanitizer delays, and take a minute with it."""
OF_WEBASSEMBLY = ("tests/native/test_javascript.py", "tests/native/test_javascript_in_chromium.py")
"""They run WebAssembly and not the extension; Chromium does not start with the sanitizer's library."""


def run(env, *arguments):
    """A Python of its own, whose interpreter loads the sanitizer's library first."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True,
        timeout=9_000, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """AddressSanitizer and UndefinedBehaviorSanitizer; Python itself gives back less than all it takes."""
    libraries, folder = runtime("libasan.so", "libubsan.so"), tmp_path_factory.mktemp("addresses")
    build(folder, *ADDRESSES)
    return {"BPELAB_CORE": str(folder), "LD_PRELOAD": libraries, "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.fixture(scope="module")
def threads(tmp_path_factory):
    """ThreadSanitizer."""
    libraries, folder = runtime("libtsan.so"), tmp_path_factory.mktemp("threads")
    build(folder, "-fsanitize=thread", "-O1", "-g")
    return {"BPELAB_CORE": str(folder), "LD_PRELOAD": libraries, "TSAN_OPTIONS": "exitcode=66"}


@pytest.mark.parametrize("seed", [1, 2])
def test_fuzz(seed, addresses):
    done = run(addresses, "-m", "tests.native.fuzz", str(seed), str(amount(250, 40_000)))
    assert done.returncode == 0, (done.stdout + done.stderr)[-6_000:]


@pytest.mark.parametrize("where", SUITE)
def test_the_suite(addresses, where):
    """Tests of encoding, training, conformance and files of strangers on the instrumented extension, in one process."""
    options = ["-m", "not slow", "-n", "0", "-q"]
    for test in (*UNDER_A_LIMIT, *ABOUT_TIME):
        options += ["--deselect", test]
    for path in OF_WEBASSEMBLY:
        options += ["--ignore", path]
    done = run(addresses, "-m", "pytest", "-p", "tests.native.sanitized", *options, *where.split())
    assert done.returncode == 0, (done.stdout + done.stderr)[-6_000:]


def test_threads_share_an_encoder(threads):
    done = run(threads, "-m", "tests.native.threads")
    assert done.returncode == 0, (done.stdout + done.stderr)[-6_000:]
    assert done.stdout == "equal\n"


def test_allocations_that_fail(tmp_path, addresses):
    """Each in turn, under AddressSanitizer: MemoryError or Python's way, nothing lost, nothing broken."""
    build(tmp_path, *ADDRESSES, "-include", "tests/native/allocations.h")
    done = run({**addresses, "BPELAB_CORE": str(tmp_path)}, "-m", "tests.native.out_of_memory")
    assert done.returncode == 0, (done.stdout + done.stderr)[-6_000:]
    assert done.stdout.endswith("allocations failed\n")


DOUBLE_FREE = """
import ctypes
from tests.native import sanitized
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
memory = libc.malloc(8)
libc.free(memory)
libc.free(memory)
"""
RACE = """
import ctypes, threading
libc, memory = ctypes.CDLL(None), ctypes.create_string_buffer(1 << 20)
def write():
    for _ in range(200):
        libc.memset(memory, 1, len(memory))
both = [threading.Thread(target=write) for _ in range(2)]
for thread in both: thread.start()
for thread in both: thread.join()
"""


def test_a_memory_bug_is_found(addresses):
    """The sanitizer is at work: memory that is freed twice ends the process."""
    done = run(addresses, "-c", DOUBLE_FREE)
    assert done.returncode != 0
    assert "attempting double-free" in done.stderr


def test_a_race_is_found(threads):
    """So is the one for threads: two that write to the same bytes are reported."""
    done = run(threads, "-c", RACE)
    assert done.returncode == 66
    assert "data race" in done.stderr
