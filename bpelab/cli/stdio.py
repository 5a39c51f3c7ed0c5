"""Standard input and output of a command: everything it prints arrives, or it fails with a message."""

import errno
import io
import os
import sys

UTF_8_NAMES = ("utf-8", "utf8")
DISK_FULL = (errno.ENOSPC, errno.EFBIG)


def repair_streams() -> None:
    """Replace standard streams that a command can't rely on.

    Unbuffered output (`python -u`, PYTHONUNBUFFERED=1) silently drops whatever doesn't fit on a full disk.
    Output in another encoding, such as Windows' cp1252, has escapes for the characters that it lacks.
    Streams that were closed before the process started are None in Python.
    """
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        encoding, errors = sys.stdout.encoding, sys.stdout.errors
        sys.stdout = open(sys.stdout.fileno(), "w", 1, encoding, errors, closefd=False)  # noqa: SIM115 - stays open
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure") and sys.stdout.encoding.lower() not in UTF_8_NAMES:
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        # read-only, so that a command that prints reports an error and fails
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115


def print_json(value: object) -> None:
    """Print a value as one line of JSON, with non-ASCII characters unescaped."""
    import json

    print(json.dumps(value, ensure_ascii=False))


def stdout_failure(error: Exception | None) -> str | None:
    """Return a message if a command ended because standard output can't be written; else None.

    The rest of the buffer is dropped: Python would try again on exit, and print a message too.
    """
    # Every other write to a full disk fails with the name of a file.
    failure = error if isinstance(error, OSError) and error.errno in DISK_FULL and error.filename is None else None
    try:
        sys.stdout.flush()
    except OSError as flush_error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        failure = flush_error
    return None if failure is None else f"standard output can't be written: {failure.strerror or failure}"
