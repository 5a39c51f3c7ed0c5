"""The reader's progress: which exercises have been solved, kept in a small file on their own machine and nowhere else.

The file is `progress.json` in the folder BPELAB_HOME, or else in the system's folder for a user's application data.

If the folder can't be read or written, progress isn't saved, but checks still work. With BPELAB_NO_PROGRESS=1 nothing
is read or written: progress lasts until Python ends, so a notebook prints the same on every machine when it is run from
top to bottom.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from .._support.textio import write_atomically

_solved: set[str] = set()


def is_saved() -> bool:
    """Return whether progress is saved in a file."""
    return os.environ.get("BPELAB_NO_PROGRESS", "") in ("", "0")


def progress_file() -> Path:
    """Return the path of the progress file.

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
    """Return the ids of the exercises that have been solved."""
    if not is_saved():
        return set(_solved)
    try:
        stored = json.loads(progress_file().read_text(encoding="utf-8"))
        return _solved | {item for item in stored["solved"] if isinstance(item, str)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return set(_solved)


def remember(exercise_id: str) -> None:
    """Mark an exercise as solved."""
    _solved.add(exercise_id)
    if is_saved():
        _store(solved())


def forget(exercise_ids: Iterable[str]) -> None:
    """Mark exercises as not solved."""
    ids = set(exercise_ids)
    remaining = solved() - ids
    _solved.difference_update(ids)
    if is_saved():
        _store(remaining)


def _store(ids: set[str]) -> None:
    path = progress_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (json.dumps({"solved": sorted(ids)}) + "\n").encode())
    except OSError:
        pass  # a read-only home, say: the check itself has succeeded
