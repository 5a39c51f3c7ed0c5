"""Translate errors of engines into actionable ones: missing packages, too little memory, the engine's own errors.

An engine reports errors in its own words, if at all; some are killed by the system when memory runs out. So the memory
that a model needs is compared with the free memory before loading, and an engine's error becomes a sentence that says
what to do. Chapter: Chat on your hardware.
"""

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._support.install import install_command
from ...errors import BackendError, BPELabError, MissingDependencyError, ModelFileError
from ..hardware import host

if TYPE_CHECKING:
    from ..models.find import ModelFiles

SHORT = ("memory", "alloc", "resource temporarily")
"""Words that mark an engine's message as an out-of-memory error."""
LONGEST = 300
"""The most characters of an engine's own message that are quoted."""
LESS = "Use a smaller model, such as a 4-bit quantization, or a smaller context"
SPARE = 300 << 20
"""Bytes of a process's own memory limit that a model can't have: what threads and code reserve counts there too."""


def import_extra(name: str, extra: str) -> Any:
    """Import a package that one of bpelab's extras installs.

    Raises MissingDependencyError if it isn't installed, BackendError if it's installed but doesn't load.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise missing_error(name, error.name, extra) from error
    except Exception as error:  # such as a missing driver or system library
        raise BackendError(
            f"{name} is installed but can't be loaded: {_said(error)}. Reinstall it for this machine: "
            f"{install_command(extra, pip='pip install --force-reinstall')}"
        ) from error


def missing_error(name: str, module: str | None, extra: str) -> MissingDependencyError:
    """Return the error for a package `name` that isn't installed, or that lacks `module`."""
    what = name if module in (name, name.partition(".")[0], None) else f"{module}, which {name} needs,"
    return MissingDependencyError(f"{what} is not installed: {install_command(extra)}")


@contextmanager
def translating_load_errors(engine: str, files: "ModelFiles") -> Iterator[None]:
    """Translate the errors of an engine that loads `files` into actionable ones, and suppress its warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except BPELabError:
        raise
    except Exception as error:
        raise load_error(engine, files, _said(error), isinstance(error, MemoryError)) from error


def load_error(engine: str, files: "ModelFiles", message: str, out_of_memory: bool = False) -> BPELabError:
    """Return the error for a model that `engine` refuses to load, with the message that it raised."""
    if out_of_memory or any(word in message.lower() for word in SHORT):
        return BackendError(
            f"{files.name}: {engine} doesn't have enough memory for it: {message}. {LESS}, or fewer GPU layers"
        )
    return ModelFileError(
        f"{files.name}: {engine} can't load it: {message}. Its architecture is {files.architecture}: if this version "
        f"of {engine} doesn't support that, try a newer one or another backend; otherwise a file may be damaged, so "
        "download it again"
    )


@contextmanager
def translating_run_errors(engine: str) -> Iterator[None]:
    """Translate the errors of an engine that computes into BackendError."""
    try:
        yield
    except BPELabError:
        raise
    except Exception as error:
        raise BackendError(
            f"{engine} failed while running: {_said(error)}. If memory is short: {LESS.lower()}"
        ) from error


def check_memory(files: "ModelFiles", weights: int, cache: int) -> None:
    """Raise BackendError if the free main memory is known and less than a model needs.

    Args:
        weights: bytes of the weights in memory.
        cache: bytes of the keys and values of a full context.
    """
    free, work = free_memory(), weights // 8
    if free is not None and weights + cache + work > free:
        sizes = (
            f"{size / 1e9:,.2f} GB {what}"
            for size, what in (
                (weights, "for its weights"),
                (cache, "for the keys and values of a full context"),
                (work, "to compute"),
            )
        )
        raise BackendError(
            f"{files.name}: not enough memory: it needs about {', '.join(sizes)}, but only "
            f"{max(0, free) / 1e9:,.2f} GB are free. {LESS}"
        )


def free_memory() -> int | None:
    """Return the bytes of main memory that this process can still take, within its own limit; None if unknown."""
    free = host.memory()[1]
    with suppress(ImportError, OSError):  # no such limits, or a system that doesn't report what is in use
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            free = min(limit - taken - SPARE, limit if free is None else free)
    return free


def one_line(text: str) -> str:
    """Return a text as one line of at most LONGEST characters, without the full stop."""
    line = " ".join(text.split())
    return line.rstrip(".") if len(line) <= LONGEST else line[:LONGEST].rstrip() + " ..."


def _said(error: BaseException) -> str:
    return one_line(str(error)) or type(error).__name__
