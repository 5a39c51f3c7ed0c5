"""The reader's progress: which exercises have been solved, kept in a small file on their own machine and nowhere else.

The file is `progress.json` in the folder that BPELAB_HOME names, else where the system keeps such things for a user.
The file names the book's edition. In the first two, exercises had the numbers of their chapters; what was solved under
a number counts for the exercise that asks it now.

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

EDITION = 3
NUMBERED = (
    *("start", "bytes", "subwords", "training", "encoding", "regex", "tiktoken", "special_tokens", "heap"),
    *(
        "incremental",
        "trie",
        "native",
        "streaming",
        "distributed",
        "formats",
        "measuring",
        "claims",
        "chat",
        "capstone",
    ),
)
"""The chapters of the first two editions, numbered from 0."""
FIRST_EDITION = {"10.4": "6.4", "16.1": "4.5"}
"""Numbers of the first edition that the second gave to other exercises -> the second's number."""
MOVED = {
    **{"subwords.3": "wordpiece_unigram.2", "subwords.4": "wordpiece_unigram.3", "subwords.5": "subwords.3"},
    **{f"special_tokens.{n}": f"chat_templates.{n - 2}" for n in (3, 4, 5)},
    "special_tokens.6": "special_tokens.3",
}
"""Exercises that are in another chapter now: the name that their number would make -> their name."""

_solved: set[str] = set()


def name_of(exercise: str, edition: int = EDITION - 1) -> str:
    """Return today's name of an exercise that an earlier edition numbered; other names as they are.

    >>> name_of("4.5"), name_of("encoding.5")
    ('encoding.5', 'encoding.5')
    """
    number = FIRST_EDITION.get(exercise, exercise) if edition == 1 else exercise
    chapter, _, position = number.partition(".")
    if not (chapter.isdecimal() and chapter.isascii() and len(chapter) < 3 and int(chapter) < len(NUMBERED)):
        return exercise
    name = f"{NUMBERED[int(chapter)]}.{position}"
    return MOVED.get(name, name)


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
        edition = stored.get("edition", 1)  # the first edition's files don't name it
        return _solved | {name_of(item, edition) for item in stored["solved"] if isinstance(item, str)}
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
