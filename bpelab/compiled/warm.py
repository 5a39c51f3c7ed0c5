"""Have every kernel compiled and kept: `bpelab warmup`, and the process that `background.py` starts.

Chapter: Compiled. Cost: 18 s of CPU time where nothing is kept yet, half a second where all is.
"""

import os
import sys
from threading import Timer

from .kernel_folder import kernel_folder, note_compiled

LONGEST = 300
"""Seconds after which the process ends, done or not."""


def warm_encoding() -> None:
    """The kernels for encoding, and for making the tables of models with ranks and with merges."""
    from ..model import BPEModel
    from ..pretokenizers.patterns import PATTERNS
    from ..pretokenizers.split import Split
    from . import make_engine

    parts = [bytes([byte]) for byte in range(256)] + [b"ab", b"abc"]
    for model in (
        BPEModel.from_ranks({part: rank for rank, part in enumerate(parts)}),
        BPEModel.from_merges([(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"a", b"bc")]),
    ):
        engine = make_engine(model, Split(next(iter(PATTERNS))))
        if engine is not None:
            engine.warm()


def warm_decoding() -> None:
    """The kernels that join tokens."""
    from .gather import Gather

    Gather({0: b"a", 1: b"b" * 20}).join([0, 1])


WARMERS = {"encoding": warm_encoding, "decoding": warm_decoding}
"""What is compiled."""


def warm() -> list[str]:
    """Compile what is not kept yet; the names of what is there now. Needs numba."""
    for warmer in WARMERS.values():
        warmer()
    note_compiled()
    return list(WARMERS)


def alone() -> None:
    """`warm`, unless another process is at it; given up after a while, and without a word."""
    import fcntl

    folder = kernel_folder()
    if folder is None or sys.platform == "win32":
        return
    watch = Timer(LONGEST, lambda: os._exit(1))
    watch.daemon = True
    watch.start()
    try:
        with open(folder / "lock", "ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return
            lock.truncate(0)
            lock.write(b"%d" % os.getpid())  # for whoever wonders what runs here
            lock.flush()
            warm()
    finally:
        watch.cancel()  # whoever called this goes on
