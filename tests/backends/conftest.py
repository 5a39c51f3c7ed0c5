"""Tests that need what is large or compiled. `make test-backends` runs them, with BPELAB_BACKENDS=1; a run of all tests
passes them by, and one that names this folder skips those whose package is missing."""

import importlib
import os
from pathlib import Path

import pytest

BACKENDS = os.environ.get("BPELAB_BACKENDS") == "1"


def pytest_ignore_collect(config):
    return None if BACKENDS or any("backends" in argument for argument in config.args) else True


def need(name: str):
    """The package, or a skip that says why. Under `make test-backends` it is there, or the run fails."""
    if BACKENDS:
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed here; make test-backends has it")


WHEELS = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bpelab" / "wheels"
NO_SOURCES = (
    "llama.cpp's sources are not there: put llama-cpp-python's source package beside its wheels, as "
    "`make test-backends` does where it can "
    f"(pip download --no-deps --no-binary llama-cpp-python -d {WHEELS} llama-cpp-python)"
)


def llama_cpp_sources() -> Path | None:
    """The source package of llama-cpp-python, which has llama.cpp's files for tests; None where it isn't kept."""
    return max(WHEELS.glob("llama_cpp_python-*.tar.gz"), default=None)
