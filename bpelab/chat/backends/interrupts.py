"""Interrupt an engine: a caller that waits for one can leave at once, while the engine still computes.

Python handles Ctrl-C in the main thread, and only between two of its own instructions: a call of C that takes seconds
holds it up for as long. So an engine reads a prompt in a thread of its own, and the caller waits for it in short
steps. The caller leaves at an interrupt, or when it's told to cancel; the engine gets a flag that it looks at when it
can. Prompts are evaluated in the same parts as without all that, so logits don't depend on time.

Chapter: Chat on your hardware. Cost: handing over to a thread and back, a fraction of a millisecond a prompt.
"""

import ctypes
import sys
from collections.abc import Callable
from concurrent.futures import Executor, wait
from typing import TypeVar

from .base import Cancelled

T = TypeVar("T")
LOOK = 0.05
"""Seconds between two looks at `cancelled`. On Windows, Ctrl-C too is noticed only then."""


class Flag:
    """A flag that Python sets and C can read: a string that is empty until it's set.

    >>> flag = Flag()
    >>> before = flag()
    >>> flag.set()
    >>> before, flag(), ctypes.string_at(flag.address)
    (False, True, b'x')
    """

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(2)

    def set(self) -> None:
        """Set the flag."""
        self._text[0] = b"x"

    def __call__(self) -> bool:
        return bool(self._text.value)

    @property
    def address(self) -> int:
        """The address of the string."""
        return ctypes.addressof(self._text)


def flag_reader() -> int:
    """Return the address of C's strlen. C calls it with a flag's address and so reads the flag, without Python.

    >>> ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(flag_reader())(Flag().address)
    False
    """
    strlen = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None).strlen
    return ctypes.cast(strlen, ctypes.c_void_p).value or 0


def interruptible(thread: Executor, call: Callable[[], T], flag: Flag, cancelled: Callable[[], bool]) -> T:
    """Return what `call` returns, computed by `thread`.

    Raises Cancelled as soon as `cancelled()` is true, and KeyboardInterrupt as soon as it comes. Then `flag` is set,
    and the call may go on for a while.
    """
    try:
        running = thread.submit(call)
        while not cancelled():
            if wait([running], LOOK).done:
                return running.result()
        raise Cancelled
    except BaseException:
        flag.set()
        raise
