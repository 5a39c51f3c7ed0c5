"""The folder in which compiled kernels are kept, and whether they are there: what can be known without numba.

The folder's name is a hash of all kernels' sources, of numba's and Python's version and of the processor: kernels of
another version or machine are not even looked at. Chapter: Compiled. Cost: a millisecond, and the import of llvmlite.
"""

import hashlib
import platform
import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..user_cache import cache_folder


@lru_cache(1)
def sources_hash() -> str:
    """A hash of all that kernels are compiled from."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + source.read_bytes())
    return digest.hexdigest()


@lru_cache(1)
def numba_version() -> str | None:
    """The version of numba that is installed, or None."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return None


@lru_cache(1)
def _machine() -> str:
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return repr((numba_version(), llvm.get_host_cpu_name(), features, platform.machine(), sys.version, sys.platform))


def kernel_folder() -> Path | None:
    """The folder for kernels of this version on this machine; None where nothing is to be kept."""
    folder = cache_folder()
    if folder is None:
        return None
    return folder / "kernels" / hashlib.sha256((sources_hash() + _machine()).encode()).hexdigest()[:32]


def compiled(purpose: str = "encoding") -> bool:
    """Whether all kernels that encoding, or "training", needs are in the folder."""
    folder = kernel_folder()
    return folder is not None and (folder / purpose).exists()


def note_compiled(purpose: str = "encoding") -> None:
    """Say that they are."""
    folder = kernel_folder()
    with suppress(OSError):  # then the next process asks again
        if folder is not None and folder.is_dir():
            (folder / purpose).touch()
