"""Capture llama.cpp's log, to keep it off the screen and to give the reason when something fails.

llama.cpp has one log per process, and any thread's C++ code may write to it. What a thread writes while it captures
goes to that thread; everything else goes where it went before, so other users of llama.cpp in the process see no
difference.
Chapter: Chat on your hardware. Source: llama.cpp `include/llama.h`, llama_log_set.
"""

import ctypes
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

ERROR = 4
"""ggml's log level for errors."""
Log = list[tuple[int, str]]
"""Log levels and texts."""


class _Listener(threading.local):
    """The log that each thread captures, or None."""

    log: Log | None = None


_listener = _Listener()
_callbacks: list[Any] = []  # keeps ours alive, which llama.cpp holds without counting references


@contextmanager
def captured_log(engine: Any) -> Iterator[Log]:
    """Capture what llama.cpp logs inside the `with` block in a list, instead of printing it."""
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
    """Return the first error, which names the cause; the later ones only say that something failed."""
    errors = [text.strip() for level, text in log if level == ERROR and text.strip()]
    return re.sub(r"^\w+: (error loading model: )?", "", errors[0]).rstrip(".") if errors else "it doesn't say why"
