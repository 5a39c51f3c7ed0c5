"""Backends run models: five of them implement one small protocol; the two most recently used models stay loaded.

A backend is a module of this package with `open(files, ...)` and `supports(files)`; `base` defines the protocol. Each
needs its own packages, which are imported only when that backend is opened.

Chapter: Chat on your hardware. Cost: loading the model, the first time.
"""

import os
from collections.abc import Hashable
from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from ..._support.install import install_command
from ..._support.validate import check_size
from ...errors import BackendError, MissingDependencyError, ModelFileError
from .base import Backend

if TYPE_CHECKING:
    from ..models.find import ModelFiles

BACKENDS = ("mlx", "llama_cpp", "openvino", "transformers", "reference")
"""The names of the backends."""
KEPT = 2
CONTEXT = 4_096
"""The largest default context length, in ids: keys and values take memory."""

_opened: dict[Hashable, Backend] = {}  # the most recently used is last
_lock = Lock()


def open_backend(
    name: str,
    files: "ModelFiles",
    *,
    n_ctx: int | None = None,
    n_gpu_layers: int | None = None,
    device: str | None = None,
    threads: int | None = None,
) -> Backend:
    """Load a model, or return the one already loaded with the same options, if its files haven't changed.

    Args:
        name: one of BACKENDS.
        files: what `find_model` returned.
        n_ctx: the context length in ids; by default what the model was made for, but at most 4,096.
        n_gpu_layers: how many layers go to the GPU, if the backend can split a model; by default all that fit.
        device: "cpu", "gpu", or the backend's own name for a device; by default what the backend prefers.
        threads: how many CPU threads it may use; by default one for each physical core (`hardware.host.threads`) in
            llama.cpp, and what the engine itself chooses in the others.

    The two most recently used models stay loaded. An older one is closed, and raises BackendError if it's still used:
    open it again. Threads may call this at the same time. Raises BackendError for an unknown name and for anything that
    can't run here; ModelFileError for a model in a format that this backend can't run, naming the backends that can;
    MissingDependencyError.
    """
    if name not in BACKENDS:
        raise BackendError(f"there is no backend {name!r}; choose one of {', '.join(BACKENDS)}")
    options: dict[str, Any] = {"n_ctx": n_ctx, "n_gpu_layers": n_gpu_layers, "threads": threads}
    for option, value in options.items():
        if value is not None:
            check_size(value, option, 0 if option == "n_gpu_layers" else 1)
    made_for = files.context_length
    if n_ctx is not None and made_for is not None and n_ctx > made_for:
        raise BackendError(f"{files.name} was made for {made_for:,} ids, so it can't have a context of {n_ctx:,}")
    context = n_ctx or min(made_for or CONTEXT, CONTEXT)
    options = {"context": context, "gpu_layers": n_gpu_layers, "threads": threads, "device": device}
    with _lock:
        key = (name, _state(files), *options.values())
        backend = _opened.pop(key, None)
        if backend is None or backend.closed:
            refused = _module(name).supports(files)
            if refused is not None:
                raise ModelFileError(f"{files.name}: {refused}. {_others(name, files)}")
            while len(_opened) >= KEPT:  # before loading, so that there is memory for the new one
                _opened.pop(next(iter(_opened))).close()
            backend = _module(name).open(files, **options)
        _opened[key] = backend
        return backend


def close_backends() -> None:
    """Close all loaded models and free their memory."""
    with _lock:
        while _opened:
            _opened.popitem()[1].close()


def _module(name: str) -> Any:
    """Return a backend's module. An engine is imported only when it's used; only the reference needs NumPy at once."""
    try:
        return import_module(f".{name}", __package__)
    except ImportError as error:
        raise MissingDependencyError(f"{error.name} is not installed: {install_command('chat')}") from error


def _state(files: "ModelFiles") -> Hashable:
    """Return the files' paths, times and sizes; if these are equal, the files count as unchanged."""
    paths = [path for path in (files.gguf, *files.safetensors, files.folder / "config.json") if path]
    try:
        found = [(path, os.stat(path)) for path in paths if path.suffix != ".json" or path.exists()]
    except OSError as error:
        raise ModelFileError(f"{error.filename} can no longer be read: {error.strerror}") from error
    return tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in found)


def _others(name: str, files: "ModelFiles") -> str:
    able = []
    for other in BACKENDS:
        with suppress(MissingDependencyError):
            able += [other] if other != name and _module(other).supports(files) is None else []
    return f"Backends for it: {', '.join(able)}" if able else "No other backend can run it either"
