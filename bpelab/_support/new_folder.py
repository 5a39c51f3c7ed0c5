"""Atomic folders: everything is written to a temporary folder beside the target, which is then renamed.

A killed process leaves nothing under the folder's own name. Its files stay in a hidden folder beside it,
`.NAME.` and eight hexadecimal digits, which can be deleted.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .textio import temporary_name


def is_free(path: Path) -> bool:
    """Return whether a new folder can have this name: nothing has it, or only an empty folder that isn't a link."""
    return not os.path.lexists(path) or (path.is_dir() and not path.is_symlink() and not any(path.iterdir()))


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder to write to: renamed to `path` when the block ends, deleted if it raises.

    `path` has to be free; its parent folders are created. The caller flushes the files. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    temporary.mkdir()
    try:
        yield temporary
        sync(temporary)
        if path.exists():
            path.rmdir()  # empty: Windows doesn't rename onto a folder that exists
        temporary.rename(path)
        sync(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def sync(folder: Path) -> None:
    """Flush a folder's list of names to disk, on systems that can."""
    with suppress(OSError):  # Windows opens no folder, and some file systems flush none
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
