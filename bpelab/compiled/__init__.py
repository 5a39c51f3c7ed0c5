"""Encoding and training compiled by numba: the same ids, some ten times as fast as tiktoken on long texts; the same
merges, some ten times as fast as the trainer in Python.

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
PAYS_FROM = {"encoding": (3_000_000, 60_000_000), "training": (4_000_000, 40_000_000)}
"""Characters from which kernels pay: those that were compiled before, and those that were not."""
_MODULES = {"encoding": f"{__name__}.engine", "training": f"{__name__}.learning"}


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
        note("encoding")
    return engine


def pays(characters: int) -> bool:
    """Whether making an engine is worth it for so many characters."""
    if characters < PAYS_FROM["encoding"][0]:
        return False
    least = pays_from("encoding")
    return least is not None and characters >= least


def pays_from(work: str) -> int | None:
    """The number of characters from which kernels for `work`, a key of `PAYS_FROM`, pay; None without numba."""
    if _numba() is None:
        return None
    marker = _marker(work)
    compiled = _MODULES[work] in sys.modules or (marker is not None and marker.exists())
    return PAYS_FROM[work][0 if compiled else 1]


@lru_cache(1)
def _numba() -> str | None:
    try:
        return version("numba")
    except PackageNotFoundError:
        return None


def _marker(work: str) -> Path | None:
    """A file that is there when the kernels for `work` were compiled in these versions."""
    from .. import __version__

    folder = cache_folder()
    return folder and folder / "kernels" / f"{__version__}-numba{_numba()}-{sys.implementation.cache_tag}-{work}"


def note(work: str) -> None:
    """Remember that the kernels for `work` are compiled."""
    marker = _marker(work)
    with suppress(OSError):  # then the next process asks again
        if marker is not None and not marker.exists():
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
