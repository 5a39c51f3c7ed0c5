"""Checked files: a file of the cache isn't checked again while nobody has written to it.

A file of 17 MB takes some milliseconds to read, of which a first text needs a few pages. When its content was checked,
a note is made of what the system knows of it: which file it is, how large, when it was last changed, and since when the
machine runs. Where that is still so, the content is believed. (A file that is mapped is believed so anyway: its pages
are read when they are used, long after any check.)

No note is made of a file that was changed in the last two seconds, since another change might get the same time; nor
where the system doesn't say which start of the machine this is, as Linux does: after a crash a disk may hold something
else than was written.
"""

from __future__ import annotations

import os
import time

from .cache_dir import cache_dir

YOUNG = 2_000_000_000
"""Nanoseconds in which a file may be changed again without a new time: disks' coarsest clocks tell two seconds."""
BOOT_ID = "/proc/sys/kernel/random/boot_id"


def is_checked(path: str, status: os.stat_result) -> bool:
    """Whether a file of the cache is as it was when it was checked. The note then counts as used now."""
    note, state = note_of(path), _state(status)
    if note is None or state is None:
        return False
    try:
        with open(note, "rb") as file:
            same = file.read() == state
        if same:
            os.utime(note)
    except OSError:
        return False
    return same


def remember_checked(path: str, status: os.stat_result) -> None:
    """Note that the content of a file is right; `status` is that before it was read.

    Where no note can be made the file itself counts as used now.
    """
    note, state = note_of(path), _state(status)
    try:
        if note is None or state is None:
            os.utime(path)
        elif time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) >= YOUNG:
            os.makedirs(os.path.dirname(note), 0o700, exist_ok=True)
            with open(note, "wb") as file:
                file.write(state)
    except OSError:  # a folder that can't be written: it is checked again next time
        return


def note_of(path: str) -> str | None:
    """Return the name of the note about a file; None if nothing is kept."""
    folder = cache_dir()
    return None if folder is None else os.path.join(folder, "checked", os.path.basename(path))


def _state(status: os.stat_result) -> bytes | None:
    try:
        with open(BOOT_ID, "rb") as file:
            boot = file.read()
    except OSError:
        return None
    times = status.st_mtime_ns, status.st_ctime_ns
    return boot + repr((status.st_dev, status.st_ino, status.st_size, *times)).encode()
