"""Fork guard: a fork waits until other threads have finished importing or loading.

A forked process has one thread. If another thread held a lock, such as that of a module being imported, it stays locked
in the child forever, since no thread is left to release it. Much is imported only on first use; that happens inside
`fork_guard`, which a fork waits for. Modules imported there mustn't log, or wait for a lock that another module takes
before a fork.
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
