"""The C under AddressSanitizer and UndefinedBehaviorSanitizer: random models, patterns and texts, and wrong tables."""

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

from ..conftest import ROOT, amount

FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-O1", "-g")


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    compiler = os.environ.get("CC") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("sanitizers are tried with GCC on Linux")
    found = [[compiler, f"-print-file-name={name}"] for name in ("libasan.so", "libubsan.so")]
    libraries = [subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip() for asked in found]
    if not all(map(os.path.isabs, libraries)):
        pytest.skip("this compiler comes without its sanitizers")
    folder = tmp_path_factory.mktemp("core")
    include = sysconfig.get_paths()["include"]
    warnings = ("-std=c11", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-cast-function-type", "-Werror")
    command = [compiler, *FLAGS, *warnings, "-shared", "-fPIC", f"-I{include}", "bpelab/native/module.c"]
    subprocess.run([*command, "-o", folder / "_core.so"], cwd=ROOT, check=True)
    return {"BPELAB_CORE": str(folder), "LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_fuzz(seed, sanitized):
    command = [sys.executable, "-m", "tests.native.fuzz", str(seed), str(amount(400, 40_000))]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **sanitized}, capture_output=True, text=True, timeout=9_000, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6_000:]


DOUBLE_FREE = """
import ctypes, os
from tests.native import fuzz
fuzz.sanitized(os.environ["BPELAB_CORE"])
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
memory = libc.malloc(8)
libc.free(memory)
libc.free(memory)
"""


@pytest.mark.slow
def test_a_planted_bug_is_found(sanitized):
    """The sanitizer is at work: memory that is freed twice ends the process."""
    done = subprocess.run(
        [sys.executable, "-c", DOUBLE_FREE], cwd=ROOT, env={**os.environ, **sanitized}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "attempting double-free" in done.stderr
