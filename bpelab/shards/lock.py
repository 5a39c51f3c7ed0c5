"""Folder lock: only one process writes at a time. The system releases it when the process ends, even by a crash."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import ShardsError

NAME = ".lock"
PAUSE = 0.2


@contextmanager
def locked(
    folder: Path, timeout: float = 0, on_wait: Callable[[float], object] = lambda seconds: None
) -> Iterator[None]:
    """Lock a folder, which must exist. Raises ShardsError if another process holds the lock for `timeout` seconds.

    Meanwhile `on_wait` is called repeatedly with the seconds waited so far.
    The lock is on a file that stays in the folder: if it were deleted, two processes could each lock a different file.
    """
    begun = time.monotonic()
    with (folder / NAME).open("ab") as file:
        while True:
            try:
                _lock(file)
                break
            except (BlockingIOError, PermissionError) as error:  # the second on Windows
                if (waited := time.monotonic() - begun) >= timeout:
                    raise ShardsError(
                        f"{folder}: another process is writing to it; wait until that has ended, or choose another "
                        "folder"
                    ) from error
            on_wait(waited)
            time.sleep(PAUSE)
        yield


def _lock(file: BinaryIO) -> None:
    if os.name == "nt":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
