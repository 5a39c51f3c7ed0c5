"""A fork waits for what other threads import or load meanwhile.

A process that is forked has one thread. What lock another thread held is held there for ever, since nobody is left to
let go of it: the lock of a module that is being imported, numba's, under which kernels are loaded, or LLVM's, under
which even what is thrown away is taken down. Much is imported and loaded only when it pays, and then inside of
`unforked`.
"""

# Both have locks of their own taken before a fork, and what is registered last is taken first. They have to come before
# this module: else a fork holds logging's lock and waits for `unforked`, whose holder imports something that logs.
import concurrent.futures.thread  # noqa: F401
import logging  # noqa: F401
import os
from threading import RLock
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
