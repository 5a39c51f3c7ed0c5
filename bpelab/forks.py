"""A fork waits for what other threads import or load meanwhile.

A process that is forked has one thread. What lock another thread held is held there for ever, since nobody is left to
let go of it: the lock of a module that is being imported, or numba's, under which kernels are loaded. Much is imported
and loaded only when it pays, and then inside of `unforked`.
"""

import os
from threading import RLock

unforked = RLock()
"""While a thread has it, no other can fork. Nothing is to wait for another thread under it."""

if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=unforked.acquire, after_in_parent=unforked.release, after_in_child=unforked.release)
