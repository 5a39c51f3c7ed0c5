"""Open a model on the best device, and say why that one; if a GPU fails, use the processor, with a warning.

Chapter: Chat on your hardware. Cost: detecting the hardware, once per process, and loading the model.
"""

import os
import warnings
from typing import TYPE_CHECKING, Any

from ..errors import BackendError, ModelFileError
from .backends import open_backend
from .backends.base import Backend
from .hardware.detect import Choice
from .hardware.machine import SHIPPED_CHOICE

if TYPE_CHECKING:
    from .models.find import ModelFiles

CPU = "cpu"


class GPUFallback(UserWarning):
    """The warning that a GPU failed, so a model runs on the processor instead."""


def choose(backend: str, files: "ModelFiles | None") -> Choice:
    """Return the backend for a model, and the reason. The shipped model needs no hardware detection."""
    if backend != "auto" or files is None:
        return Choice(backend, "it was asked for")
    from .models.find import SHIPPED

    if files.folder == SHIPPED and not os.environ.get("BPELAB_BACKEND"):
        return SHIPPED_CHOICE
    from .hardware.detect import detect

    return detect().choose(files)


def open_with_fallback(name: str, files: "ModelFiles", options: dict[str, Any]) -> Backend:
    """Open the model with `options` of `open_backend`; if a GPU fails and no device is given, use the processor.

    In that case it warns with GPUFallback, in one line, and sets the device in `options`, so that the GPU isn't tried
    again. Raises what `open_backend` raises for the processor.
    """
    try:
        return open_backend(name, files, **options)
    except (BackendError, ModelFileError) as error:
        if options["device"] is not None or options["n_gpu_layers"] is not None or not _has_gpu(name):
            raise
        backend = open_backend(name, files, **options | {"device": CPU})
        options["device"] = CPU
        problem = " ".join(str(error).split())
        warnings.warn(GPUFallback(f"runs on the processor because the GPU failed: {problem}"), stacklevel=4)
        return backend


def _has_gpu(name: str) -> bool:
    """Return whether a backend would use anything but the processor here."""
    from .hardware.detect import detect

    kinds = {kind for status in detect().backends if status.name == name for kind in status.kinds}
    return bool(kinds - {CPU})
