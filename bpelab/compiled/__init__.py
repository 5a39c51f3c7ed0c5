"""Encoding compiled by numba: the same ids, some ten times as fast as tiktoken on long texts.

This module says when that pays, and imports numba only then. Kernels are compiled once on a machine, which takes some
eighteen seconds of CPU time, by a process of its own (`background.py`) or by `bpelab warmup`; so nobody waits for them.
Loading what was compiled takes as long as importing numba.

Chapter: Compiled.
"""

import sys
from typing import TYPE_CHECKING

from ..errors import BPELabError, MissingDependencyError
from ..forks import unforked
from ..install import install_command

if TYPE_CHECKING:
    from ..model import BPEModel
    from ..pretokenizers.base import PreTokenizer
    from .engine import Engine

AT_HAND = 500_000
"""Ids from which the tables for decoding pay where kernels are loaded anyway."""
IMPORTED, ON_DISK, NOT_COMPILED = 300_000, 1_000_000, 60_000_000
"""Characters from which making an engine pays: with numba in memory, with kernels on disk, with neither."""
STEP = 50_000
"""Characters between two questions whether it pays by now."""


def interpreter_has_its_lock() -> bool:
    """Whether threads of this Python run one at a time, as all do but those of a free-threaded build."""
    asks = getattr(sys, "_is_gil_enabled", None)  # documented under this name, from Python 3.13 on
    return True if asks is None else bool(asks())


def make_engine(model: "BPEModel", pre_tokenizer: "PreTokenizer | None") -> "Engine | None":
    """An engine for a model, which cuts texts itself where the pre-tokenizer is one for tables: see `steps.plan_for`.

    None for a model that only Python encodes: see `building.model_tables`. Raises MissingDependencyError without numba,
    BPELabError in a Python without the interpreter's lock, which keeps threads apart that share the engine's handle.
    """
    if not interpreter_has_its_lock():
        raise BPELabError("compiled encoding needs Python's global interpreter lock, which is off: use encoder='trie'")
    with unforked:
        try:
            from .engine import Engine
        except ImportError as error:
            raise MissingDependencyError(f"compiled encoding needs numba: {install_command('fast')}") from error
        from .steps import plan_for

        return Engine.of(model, plan_for(pre_tokenizer, model))


def pays(characters: int) -> bool:
    """Whether making an engine is worth it for so many characters; where only compiling is in the way, that begins."""
    if characters < IMPORTED or not interpreter_has_its_lock():
        return False
    with unforked:
        from .kernel_folder import compiled, numba_version

        if numba_version() is None:
            return False
        if compiled():
            return characters >= (IMPORTED if "numba" in sys.modules else ON_DISK)
        from .background import begin

        begin()
        return characters >= NOT_COMPILED


def decoding_pays(ids: int) -> bool:
    """Whether compiled decoding is worth it for so many ids."""
    if f"{__name__}.engine" in sys.modules:
        return ids >= AT_HAND
    return pays(ids // 3)
