"""Room for what kernels look up everywhere in: on large pages, where the system has them.

A look-up in a table of 16 MB on pages of 4 kB costs a second one, in the processor's table of pages, which has entries
for a part of them only. numpy asks for large pages too, but gets them only where it is given memory that nothing used
before; a mapping of its own is always new, and all zeros.

Chapter: Compiled. Cost: a page fault for 2 MB instead of one for 4 kB. Source: the Linux kernel's documentation of
transparent huge pages.
"""

import mmap
import sys
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

PAGE = 1 << 21


def zeros(size: int) -> NDArray[np.uint8]:
    """So many bytes, all zero, that begin on a large page if there are enough to fill one.

    >>> int(zeros(100).sum()), len(zeros(1 << 22))
    (0, 4194304)
    """
    if size < PAGE or not sys.platform.startswith("linux"):
        return np.zeros(size, np.uint8)
    mapped = mmap.mmap(-1, size + PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):  # a kernel that was built without them
        mapped.madvise(mmap.MADV_HUGEPAGE)
    room = np.frombuffer(mapped, np.uint8)
    skip = -room.ctypes.data % PAGE
    return room[skip : skip + size]
