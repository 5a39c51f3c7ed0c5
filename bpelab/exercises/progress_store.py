"""Which exercises have been solved, kept in a small file on the reader's own machine and nowhere else.

The file is `progress.json` in the folder that BPELAB_HOME names, else where the system keeps such things for a user.
A folder that can't be read or written costs the memory, never a check. With BPELAB_NO_PROGRESS=1 nothing is read or
written: what was solved is then known until Python ends, so that a notebook run from top to bottom prints the same on
every machine.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from ..textio import write_atomically

_solved: set[str] = set()


def is_kept() -> bool:
    """Whether progress goes to a file."""
    return os.environ.get("BPELAB_NO_PROGRESS", "") in ("", "0")


def progress_file() -> Path:
    """Where progress is kept.

    >>> progress_file().name
    'progress.json'
    """
    home = os.environ.get("BPELAB_HOME")
    if home:
        return Path(home) / "progress.json"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Application Support")
    else:
        base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(base) / "bpelab" / "progress.json"


def solved() -> set[str]:
    """The ids of the exercises that have been solved."""
    if not is_kept():
        return set(_solved)
    try:
        stored = json.loads(progress_file().read_text(encoding="utf-8"))["solved"]
        return _solved | {item for item in stored if isinstance(item, str)}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set(_solved)


def remember(exercise_id: str) -> None:
    """Note that an exercise has been solved."""
    _solved.add(exercise_id)
    if is_kept():
        _store(solved())


def forget(exercise_ids: Iterable[str]) -> None:
    """Note that exercises are to be done again."""
    ids = set(exercise_ids)
    left = solved() - ids
    _solved.difference_update(ids)
    if is_kept():
        _store(left)


def _store(ids: set[str]) -> None:
    path = progress_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (json.dumps({"solved": sorted(ids)}) + "\n").encode())
    except OSError:
        pass  # a read-only home, say: the check itself has succeeded
