"""A fork waits for what other threads import or load meanwhile.

A process that is forked has one thread. What lock another thread held is held there for ever, since nobody is left to
let go of it: that of a module that is being imported, for example. Much is imported only when it is used, and then
inside of `unforked`, which a fork waits for. Nothing that is imported there may log, or wait for a lock that another
module takes before a fork.
"""

from __future__ import annotations

import os
from threading import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

unforked = RLock()
"""While a thread has it, no other can fork. Nothing is to wait for another thread under it."""

_taken: list[Any] = [unforked]


def forks_take(*locks: Any) -> None:
    """Every fork takes these as well, after those that it takes already; whoever holds one never waits for those."""
    with unforked:  # so that no fork lets go of what it has not taken
        _taken.extend(locks)


def _take() -> None:
    for lock in _taken:
        lock.__enter__()


def _let_go() -> None:
    for lock in reversed(_taken):
        lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_take, after_in_parent=_let_go, after_in_child=_let_go)
