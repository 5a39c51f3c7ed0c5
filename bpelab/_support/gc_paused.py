"""Pause Python's garbage collector: with millions of objects, collections take as long as the work itself."""

from __future__ import annotations

import gc
from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")


class gc_paused:
    """Disable collections inside a `with` or a decorated function; enable them afterwards if they were enabled.

    Used like a function of contextlib, which takes a millisecond to import.
    """

    def __enter__(self) -> None:
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            gc.enable()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def paused(*args: P.args, **kwargs: P.kwargs) -> R:
            with gc_paused():
                return function(*args, **kwargs)

        return paused
