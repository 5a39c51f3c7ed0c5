"""Resource limits for templates: time and characters written. Operations with large results are charged beforehand.

A template is a program that somebody else wrote. Loops and calls check the clock (this thread's processor time, so that
a busy machine makes no difference), and operations that can have a large result state its size before they compute it.

Chapter: Chat templates. Cost: a tenth of a microsecond per step.
"""

import time
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from contextvars import ContextVar
from typing import Any

from ..errors import TemplateError

SECONDS, LARGEST, ALTOGETHER = 1.0, 1 << 20, 1 << 24
MOST_DIGITS = 4096
MOST_NESTED = 200
CONTAINERS = (list, tuple, Mapping, set, frozenset, ItemsView, KeysView, ValuesView)
_clock = getattr(time, "thread_time", time.perf_counter)


class Budget:
    """The limits of one rendering in time and characters; both grow with the size of the conversation.

    Attributes:
        largest: the most characters in one string, or items in one list.
        remaining: the characters that may still be written.
    """

    def __init__(self, size: int, seconds: float | None = None) -> None:
        self.largest = LARGEST + 8 * size
        self.remaining = ALTOGETHER + 256 * size
        self._deadline = _clock() + (SECONDS if seconds is None else seconds) * (1 + size / LARGEST)
        self._steps = 0

    def tick(self) -> None:
        """Count one iteration or call. Raises TemplateError when time is up."""
        self._steps += 1
        if not self._steps & 31:
            self.check_deadline()

    def check_deadline(self) -> None:
        """Raise TemplateError when time is up."""
        if _clock() > self._deadline:
            raise TemplateError("it takes too long: real templates need milliseconds")

    def charge(self, size: int) -> None:
        """Charge for a result of `size` characters. Raises TemplateError if that's too much."""
        if size > self.largest:
            raise TemplateError(f"it makes a string or a list of size {size:,}; {self.largest:,} is the most here")
        self.remaining -= size
        if self.remaining < 0:
            raise TemplateError("it writes too much")
        if size > 4096:
            self.check_deadline()

    def measure(self, value: Any) -> int:
        """Return the size of `value` in characters and items, counting everything nested in it as a tree.

        A list that holds another twice is small in memory but doubles when it's written; counting a tree catches that.
        """
        if isinstance(value, str):
            return len(value)
        if hasattr(type(value), "__setitem__") and not isinstance(value, CONTAINERS):
            raise TemplateError("it writes or compares a namespace instead of its contents")
        if not isinstance(value, CONTAINERS):
            return 1
        total = 0
        waiting: list[tuple[Any, int]] = [(value, 0)]
        while waiting:
            item, depth = waiting.pop()
            total += 8
            if isinstance(item, str):
                total += len(item)
            elif isinstance(item, CONTAINERS):
                if depth > MOST_NESTED:
                    raise TemplateError(f"it nests lists more than {MOST_NESTED} deep")
                if total + 8 * len(item) <= self.largest:
                    parts = item.items() if isinstance(item, Mapping) else item
                    waiting += [(part, depth + 1) for part in parts]
                else:
                    total += 8 * len(item)
            elif hasattr(type(item), "__setitem__"):
                raise TemplateError("it writes or compares a namespace instead of its contents")
            if total > self.largest:
                raise TemplateError(f"it works on lists of more than {self.largest:,} characters, counted as written")
        return total

    def charge_each(self, values: Iterable[Any]) -> Iterator[Any]:
        """Yield the values one by one, charging for each as if written before the caller can hash or compare it."""
        for value in values:
            self.tick()
            self.charge(self.measure(value))
            yield value


UNLIMITED = Budget(1 << 60, float("inf"))
current: ContextVar[Budget] = ContextVar("budget", default=UNLIMITED)


def charge(size: int) -> None:
    """Charge the current rendering's budget."""
    current.get().charge(size)
