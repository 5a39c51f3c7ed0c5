"""Standard input and output of a command: all of what it prints arrives, or it says that it doesn't, and fails."""

import errno
import io
import os
import sys

UTF_8 = ("utf-8", "utf8")
FULL = (errno.ENOSPC, errno.EFBIG)


def prepare() -> None:
    """Replace what a command can't rely on.

    Output without a buffer (`python -u`, PYTHONUNBUFFERED=1) drops what a full disk has no room for, and says nothing.
    An output of another encoding, such as Windows' cp1252, shows what it lacks as an escape.
    Streams that were closed before the process began are None in Python.
    """
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        sys.stdout = open(sys.stdout.fileno(), "w", 1, encoding, errors, closefd=False)  # noqa: SIM115 - for good
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure") and sys.stdout.encoding.lower() not in UTF_8:
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        # what can't be written to: a command that prints then says so, and fails
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115


def lost_output(error: Exception | None) -> str | None:
    """Why what was printed can't be written, where that is what a command ended with; else None.

    What is left of it is dropped: Python would try again when it ends, and end with words of its own.
    """
    # Nothing else that runs out of room does so without the name of a file.
    lost = error if isinstance(error, OSError) and error.errno in FULL and error.filename is None else None
    try:
        sys.stdout.flush()
    except OSError as again:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        lost = again
    return None if lost is None else f"standard output can't be written: {lost.strerror or lost}"
