"""Fork guard: a fork waits for what other threads import or load.

A forked process has one thread. A lock that another thread held is held there for ever, since no thread is left to
release it: that of a module that is being imported, for example. Much is imported only when it is used, and then
inside `fork_guard`, which a fork waits for. Nothing that is imported there may log, or wait for a lock that another
module takes before a fork.
"""

from __future__ import annotations

import os
from threading import RLock

fork_guard = RLock()
"""While a thread holds it, no other can fork. Never wait for another thread while holding it."""

if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=fork_guard.acquire, after_in_parent=fork_guard.release, after_in_child=fork_guard.release
    )
