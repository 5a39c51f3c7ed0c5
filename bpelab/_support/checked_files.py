"""Checked files: a cached file isn't checked again until somebody writes to it.

Reading a 17 MB file takes some milliseconds, and a first text needs only a few pages of it. After a check, a note
records the file's metadata: its device and inode, its size, its times of change, and the machine's boot id. While these
are the same, the content is trusted. (A memory-mapped file has to be trusted anyway: its pages are read when they are
used, long after any check.)

A file changed in the last two seconds gets no note, since another change might get the same time. Neither does any
file on a system without a boot id (Linux has one): after a crash, a disk may not hold what was written.
"""

from __future__ import annotations

import os
import time

from .cache_dir import cache_dir

YOUNG = 2_000_000_000
"""Nanoseconds in which a file may be changed again without a new time: disks' coarsest clocks tell two seconds."""
BOOT_ID = "/proc/sys/kernel/random/boot_id"


def is_checked(path: str, status: os.stat_result) -> bool:
    """Return whether a cached file is unchanged since it was checked. If so, mark its note as used now."""
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
    """Note that the content of a file is right; `status` is its status before it was read.

    If no note can be made, mark the file itself as used now.
    """
    note, state = note_of(path), _state(status)
    try:
        if note is None or state is None:
            os.utime(path)
        elif time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) >= YOUNG:
            os.makedirs(os.path.dirname(note), 0o700, exist_ok=True)
            with open(note, "wb") as file:
                file.write(state)
    except OSError:  # the folder isn't writable: the file is checked again next time
        return


def note_of(path: str) -> str | None:
    """Return the path of the note about a file; None if caching is off."""
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
