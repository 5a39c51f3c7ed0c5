"""Pause Python's garbage collector: among millions of objects a collection takes as long as the work."""

from __future__ import annotations

import gc
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def gc_paused() -> Iterator[None]:
    """Disable collections inside; enable them afterwards if they were enabled."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
