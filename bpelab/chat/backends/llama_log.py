"""Capture llama.cpp's log: nothing on the screen, and the reason where something fails.

It has one log for a process, written to by C++ in whatever thread works. What a thread writes while it listens goes to
that thread; all else goes where it went before, so other users of llama.cpp in the process see no difference.
Chapter: Chat on your hardware. Source: llama.cpp `include/llama.h`, llama_log_set.
"""

import ctypes
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ERROR = 4
"""ggml's number of the level of an error."""
Log = list[tuple[int, str]]
"""Levels and texts."""


class _Listener(threading.local):
    """Each thread has its own."""

    log: Log | None = None


_listener = _Listener()
_callbacks: list[Any] = []  # ours, which llama.cpp holds without counting references


@contextmanager
def captured_log(engine: Any) -> Iterator[Log]:
    """Capture what llama.cpp writes meanwhile in a list, instead of on the screen."""
    if not _callbacks:
        before, data = engine.llama_log_callback(), ctypes.c_void_p()
        engine.llama_log_get(ctypes.byref(before), ctypes.byref(data))

        def take(level: int, text: bytes, _: Any) -> None:
            if _listener.log is not None:
                _listener.log.append((level, text.decode("utf-8", "replace")))
            elif before:
                before(level, text, data)

        _callbacks.append(engine.llama_log_callback(take))
        engine.llama_log_set(_callbacks[-1], ctypes.c_void_p())
    log: Log = []
    _listener.log = log
    try:
        yield log
    finally:
        _listener.log = None


def first_error(log: Log) -> str:
    """Return the first error: those that follow say that something failed."""
    errors = [text.strip() for level, text in log if level == ERROR and text.strip()]
    return re.sub(r"^\w+: (error loading model: )?", "", errors[0]).rstrip(".") if errors else "it doesn't say why"
