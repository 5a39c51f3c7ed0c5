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
    from ..pretokenizers.base import PreTokenizer
    from .engine import Engine

LONG_ENOUGH = 2_000
"""Characters of the shortest text for which a compiled encoder is taken."""
ON_DISK, NOT_COMPILED = 3_000_000, 60_000_000
"""Characters from which making an engine pays: with kernels that were compiled before, and without."""
AT_HAND = 500_000
"""Ids from which the tables for decoding pay where kernels are loaded anyway."""


def make_engine(model: "BPEModel", pre_tokenizer: "PreTokenizer | None") -> "Engine | None":
    """An engine for a model, which cuts texts itself where the pre-tokenizer is one for tables: see `steps.plan_for`.

    None for a model that only Python encodes: see `building.model_tables`. Raises MissingDependencyError without numba.
    """
    try:
        from .engine import Engine
    except ImportError as error:
        raise MissingDependencyError('compiled encoding needs numba: pip install "bpelab[fast]"') from error
    from .steps import plan_for

    engine = Engine.of(model, plan_for(pre_tokenizer, model))
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


def decoding_pays(ids: int) -> bool:
    """Whether compiled decoding is worth it for so many ids."""
    if f"{__name__}.engine" in sys.modules:
        return ids >= AT_HAND
    return pays(ids // 3)


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
