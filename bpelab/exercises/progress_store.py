"""The reader's progress: which exercises have been solved, kept in a small file on their own machine and nowhere else.

The file is `progress.json` in the folder that BPELAB_HOME names, else where the system keeps such things for a user.
Exercises are known by their numbers, so the file names the book's edition: where a number has been given to another
exercise since, what was solved under it counts for the exercise that asks it now.

A folder that can't be read or written costs the memory, never a check. With BPELAB_NO_PROGRESS=1 nothing is read or
written: what was solved is then known until Python ends, so that a notebook run from top to bottom prints the same on
every machine.
"""

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from .._support.textio import write_atomically

EDITION = 2
NUMBERS_SINCE = {1: {"10.4": "6.4", "16.1": "4.5"}}
"""For each earlier edition, the numbers that mean another exercise now -> the number of the one that they meant."""

_solved: set[str] = set()


def is_saved() -> bool:
    """Whether progress is saved in a file."""
    return os.environ.get("BPELAB_NO_PROGRESS", "") in ("", "0")


def progress_file() -> Path:
    """Return the path of the file that keeps progress.

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
        since = NUMBERS_SINCE.get(stored.get("edition", 1), {})  # the first edition's files don't name it
        return _solved | {since.get(item, item) for item in stored["solved"] if isinstance(item, str)}
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
    left = solved() - ids
    _solved.difference_update(ids)
    if is_saved():
        _store(left)


def _store(ids: set[str]) -> None:
    path = progress_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (json.dumps({"edition": EDITION, "solved": sorted(ids)}) + "\n").encode())
    except OSError:
        pass  # a read-only home, say: the check itself has succeeded
