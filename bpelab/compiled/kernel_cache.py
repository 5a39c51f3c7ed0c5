"""Where compiled kernels are kept: the user's cache folder, under a name that says what they were compiled from.

numba keeps a kernel beside its source and compiles it again when that file changes, but not when a function that it
calls changes in another file, and installation folders may be read-only. So they go to a folder whose name is a hash
(`kernel_folder.py`). What can't be written is not kept, and nobody is told; what can't be read is compiled anew.

Chapter: Compiled. Source: numba's `core/caching.py`.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

from .kernel_folder import kernel_folder


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
        return cls(function, folder)  # one that can't be written to may hold what was compiled before


class _Kernels(CompileResultCacheImpl):
    _locator_classes: list[type[Any]] = [_Locator]  # noqa: RUF012 - numba declares it so


class KernelCache(FunctionCache):
    """numba's cache of one function, in our folder, and without the right to fail."""

    _impl_class = _Kernels

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel, or None.

        numba would first register everything that kernels could be compiled from, and import all packages that extend
        it. What is compiled needs neither, only the functions of numba's that allocate memory, by their names.
        """
        try:
            _name_helpers()
            return self._load_overload(signature, target_context)
        except Exception:  # a file that was cut off or is no pickle of numba's
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep a kernel, if that can be done."""
        try:
            super().save_overload(signature, data)
        except OSError:  # a full disk, or a folder that went away
            self.disable()


@lru_cache(1)
def _name_helpers() -> None:
    """The first part of what numba does before it compiles (`core/runtime/nrt.py`)."""
    for name, address in _nrt_python.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else "NRT_" + name, address)


def keep(dispatcher: Any) -> Any:
    """A kernel that is loaded from the folder where it is there, and written to it when it was compiled."""
    with suppress(RuntimeError):  # numba's word for "no place"
        dispatcher._cache = KernelCache(dispatcher.__wrapped__)
    return dispatcher
