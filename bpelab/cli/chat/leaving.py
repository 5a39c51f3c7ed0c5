"""Leave at Ctrl-C, even while an engine loads a model.

Python handles Ctrl-C in the main thread, between two of its own instructions, and an engine's call of C can take
seconds. So a second thread is told of the signal as soon as it comes. It gives Python a moment to raise
KeyboardInterrupt, which cleans up, and otherwise ends the process.

Chapter: Chat on your hardware. Cost: a thread that waits.
"""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

GRACE = 0.3
"""Seconds that Python has to notice Ctrl-C itself."""
CODE = 130
"""The exit code of a program that Ctrl-C ended."""


@contextmanager
def leaving_at_interrupt() -> Iterator[None]:
    """End the process soon after Ctrl-C, whatever it does; only in the main thread, which gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told, signals = socket.socketpair()
    signals.setblocking(False)
    left = threading.Event()

    def watch() -> None:
        while number := told.recv(1):  # of a signal; nothing once the other end is closed
            if number[0] == signal.SIGINT and not left.wait(GRACE):
                os._exit(CODE)  # other ways to end a process wait for C, or free what it still uses

    watcher = threading.Thread(target=watch, name="bpelab-interrupt", daemon=True)
    former = signal.set_wakeup_fd(signals.fileno(), warn_on_full_buffer=False)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(former)
        signals.close()
        watcher.join()
        told.close()
