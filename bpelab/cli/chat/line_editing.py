"""Line editing with readline, if available: earlier messages on the arrow keys, command completion on Tab.

Chapter: Chat on your hardware.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..._support.cache_dir import cache_dir

HISTORY = 1_000
"""The number of lines to keep in the history file, which is in the cache folder."""


@contextmanager
def line_editing(commands: Iterable[str]) -> Iterator[None]:
    """Keep a history of lines, and complete command names at the beginning of a line."""
    try:
        import readline
    except ImportError:
        yield
        return
    names = sorted(commands)

    def complete(text: str, number: int) -> str | None:
        fits = [f"{name} " for name in names if name.startswith(text)] if readline.get_begidx() == 0 and text else []
        return fits[number] if number < len(fits) else None

    former, delimiters = readline.get_completer(), readline.get_completer_delims()
    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n")
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    folder = cache_dir()
    path = None if folder is None else Path(folder, "chat_history")
    if path is not None:
        with suppress(OSError):
            readline.read_history_file(path)
    try:
        yield
    finally:
        readline.set_completer(former)
        readline.set_completer_delims(delimiters)
        if path is not None:
            with suppress(OSError):
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))  # only the user may read it
                readline.set_history_length(HISTORY)
                readline.write_history_file(path)
