"""Encoding compiled by numba: the same ids, some ten times as fast as tiktoken on long texts.

This module says when that pays, and imports numba only then. Kernels are compiled once on a machine, which takes some
fifteen seconds of CPU time, by a process of its own (`background.py`) or by `bpelab warmup`; so nobody waits for them.
Loading what was compiled takes as long as importing numba.

Chapter: Compiled.
"""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import MissingDependencyError

if TYPE_CHECKING:
    from ..model import BPEModel
    from ..pretokenizers.split import Split
    from .engine import Engine

IMPORTED, ON_DISK, NOT_COMPILED = 300_000, 1_000_000, 60_000_000
"""Characters from which making an engine pays: with numba in memory, with kernels on disk, with neither."""
STEP = 50_000
"""Characters between two questions whether it pays by now."""


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
    return Engine.of(model, dfa)


def pays(characters: int) -> bool:
    """Whether making an engine is worth it for so many characters; where only compiling is in the way, that begins."""
    if characters < IMPORTED:
        return False
    from .kernel_folder import compiled, numba_version

    if numba_version() is None:
        return False
    if compiled():
        return characters >= (IMPORTED if "numba" in sys.modules else ON_DISK)
    from .background import begin

    begin()
    return characters >= NOT_COMPILED
