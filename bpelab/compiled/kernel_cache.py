"""Where compiled kernels are kept: the user's cache folder, under a name that says what they were compiled from.

numba keeps a kernel beside its source and compiles it again when that file changes, but not when a function that it
calls changes in another file, and installation folders may be read-only. So the folder's name is a hash of all kernels'
sources, of numba's and Python's version and of the processor: kernels of another version or machine are not even
looked at. What can't be written is not kept, and nobody is told; what can't be read is compiled anew.

Chapter: Compiled. Source: numba's `core/caching.py`.
"""

import hashlib
import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache

from ..user_cache import cache_folder


@lru_cache(1)
def kernel_folder() -> Path | None:
    """The folder for kernels of this version on this machine; None where nothing is to be kept."""
    folder = cache_folder()
    if folder is None:
        return None
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + source.read_bytes())
    features = llvm.get_host_cpu_features().flatten()
    machine = (numba.__version__, llvm.get_host_cpu_name(), features, platform.machine(), sys.version, sys.platform)
    digest.update(repr(machine).encode())
    return folder / "kernels" / digest.hexdigest()[:32]


class _Locator:
    """What numba asks for the place and the age of a kernel."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._line, self._folder = function.__code__.co_firstlineno, folder

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "_Locator | None":
        folder = kernel_folder()
        if folder is None:
            return None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return cls(function, folder) if os.access(folder, os.W_OK) else None


class _Kernels(CompileResultCacheImpl):
    _locator_classes: list[type[Any]] = [_Locator]  # noqa: RUF012 - numba declares it so


class KernelCache(FunctionCache):
    """numba's cache of one function, in our folder, and without the right to fail."""

    _impl_class = _Kernels

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel, or None."""
        try:
            return super().load_overload(signature, target_context)
        except Exception:  # a file that was cut off or is no pickle of numba's
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep a kernel, if that can be done."""
        try:
            super().save_overload(signature, data)
        except OSError:  # a full disk, or a folder that went away
            self.disable()


def keep(dispatcher: Any) -> Any:
    """A kernel that is loaded from the folder where it is there, and written to it when it was compiled."""
    with suppress(RuntimeError):  # numba's word for "no place"
        dispatcher._cache = KernelCache(dispatcher.py_func)
    return dispatcher
