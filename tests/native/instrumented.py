"""Build the extension with sanitizers, into a folder that `fuzz.py` and others load it from."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from ..conftest import ROOT

WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-cast-function-type", "-Werror")


def compiler() -> str:
    """Return the C compiler. Skips where what it builds can't be tried."""
    found = os.environ.get("CC") or shutil.which("gcc")
    if found is None or sys.platform != "linux":
        pytest.skip("instrumented builds are tried with GCC on Linux")
    return found


def build(folder: Path, *flags: str, sources: Path = Path("bpelab", "native")) -> Path:
    """Compile the extension's `sources` with `flags`; returns the shared library. Skips where that can't be tried."""
    library, include = folder / "_core.so", sysconfig.get_paths()["include"]
    files = sorted(str(file) for file in (ROOT / sources).glob("*.c") if file.name != "wasm.c")
    command = [compiler(), *flags, *WARNINGS, "-shared", "-fPIC", f"-I{include}", *files, "-o", str(library)]
    subprocess.run(command, cwd=ROOT, check=True)
    return library


def runtime(*names: str) -> str:
    """Return the sanitizers' libraries, for LD_PRELOAD. Skips if the compiler comes without them."""
    asked = [[compiler(), f"-print-file-name={name}"] for name in names]
    found = [subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip() for line in asked]
    if not all(map(os.path.isabs, found)):
        pytest.skip("this compiler comes without its sanitizers")
    return " ".join(found)
