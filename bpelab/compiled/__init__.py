"""Encoding compiled by numba: the same ids, some ten times as fast as tiktoken on long texts.

This module says when that pays, and imports numba only then. Kernels are compiled once on a machine, which takes some
ten seconds of CPU time, and loading them takes about one: so a short text is never made to wait for them.

Chapter: Compiled.
"""

import sys
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import MissingDependencyError
from ..user_cache import cache_folder

if TYPE_CHECKING:
    from ..model import BPEModel
    from ..pretokenizers.split import Split
    from .engine import Engine

LONG_ENOUGH = 2_000
"""Characters of the shortest text for which a compiled encoder is taken."""
ON_DISK, NOT_COMPILED = 3_000_000, 60_000_000
"""Characters from which making an engine pays: with kernels that were compiled before, and without."""


def make_engine(model: "BPEModel", split: "Split | None") -> "Engine | None":
    """An engine for a model, which cuts texts itself where `split`'s pattern is one for a table.

    None for a model that only Python encodes: see `building.model_tables`. Raises MissingDependencyError without numba.
    """
    try:
        from .engine import Engine
    except ImportError as error:
        raise MissingDependencyError('compiled encoding needs numba: pip install "bpelab[fast]"') from error
    from ..errors import PatternError
    from ..pretokenizers.regex_dfa import dfa_for
    from ..pretokenizers.regex_nfa import NotRegular

    dfa = None
    if split is not None and split.behavior == "Isolated" and not split.invert:
        with suppress(NotRegular, PatternError):
            dfa = dfa_for(split.pattern, split.dialect)
    engine = Engine.of(model, dfa)
    if engine is not None:
        engine.warm()
        _note()
    return engine


def pays(characters: int) -> bool:
    """Whether making an engine is worth it for so many characters."""
    if characters < ON_DISK or _numba() is None:
        return False
    marker = _marker()
    compiled = f"{__name__}.engine" in sys.modules or (marker is not None and marker.exists())
    return characters >= (ON_DISK if compiled else NOT_COMPILED)


@lru_cache(1)
def _numba() -> str | None:
    try:
        return version("numba")
    except PackageNotFoundError:
        return None


def _marker() -> Path | None:
    """A file that is there when kernels of these versions were compiled."""
    from .. import __version__

    folder = cache_folder()
    return folder and folder / "kernels" / f"{__version__}-numba{_numba()}-{sys.implementation.cache_tag}"


def _note() -> None:
    marker = _marker()
    with suppress(OSError):  # then the next process asks again
        if marker is not None and not marker.exists():
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
