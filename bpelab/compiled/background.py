"""Compile in another process, at the lowest priority, while this one goes on in Python.

numba's compiler keeps the interpreter's lock, so a thread would slow down what it should not disturb. The process
outlives this one if that ends first: its work is for all that come later. It ends by itself, says nothing, is nobody's
child that somebody would have to wait for, and only one compiles at a time. `BPELAB_BACKGROUND=0` keeps it from being
started; so does what would make it useless, a folder that can't be written to.

Chapter: Compiled. Cost: 20 ms for starting it, and 18 s of CPU time of the other process.
"""

import os
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from .kernel_folder import kernel_folder

CODE = "import os; os.fork() and os._exit(0); os.nice(19); from bpelab.compiled.warm import alone; alone()"


@lru_cache(1)
def begin() -> bool:
    """Start the process, once; whether one was started."""
    folder = kernel_folder()
    if folder is None or os.environ.get("BPELAB_BACKGROUND") == "0" or not _is_python() or not writable(folder):
        return False
    path = os.pathsep.join(str(Path(place or ".").absolute()) for place in sys.path)
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            [sys.executable, "-c", CODE],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=10,
            check=False,
        )
        return True
    return False


def _is_python() -> bool:
    """Whether `sys.executable` is this Python: not in a frozen program, or one that Python is a part of."""
    if not hasattr(os, "fork") or getattr(sys, "frozen", False) or not sys.executable:
        return False
    return Path(sys.executable).name.startswith("python") and os.access(sys.executable, os.X_OK)


def writable(folder: Path) -> bool:
    """Whether files can be put into `folder`, which is made if it isn't there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
