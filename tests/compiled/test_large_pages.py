"""Room on large pages: zeros, at the right place, and given back."""

import gc
import sys

import numpy as np
import pytest

from bpelab.compiled.cache import WINDOW, aligned_rows
from bpelab.compiled.large_pages import PAGE, zeros

pytestmark = pytest.mark.slow  # numba's kernels are compiled: half a minute


@pytest.mark.parametrize("size", [0, 1, PAGE - 1, PAGE, PAGE + 1, 5 * PAGE + 3])
def test_zeros_that_can_be_written_to(size):
    room = zeros(size)
    assert room.shape == (size,) and room.dtype == np.uint8 and not room.any()
    room[:] = 255
    assert not zeros(size).any()  # another room
    if size >= PAGE and sys.platform.startswith("linux"):
        assert room.ctypes.data % PAGE == 0


def test_rows_begin_with_a_line_and_end_in_a_window():
    for count, width in ((4096, 4), (1 << 17, 4), (1 << 17, 8)):
        rows = aligned_rows(count, width)
        assert rows.shape == (count, width) and rows.ctypes.data % 64 == 0 and not rows.any()
        assert rows.base.nbytes >= (count + WINDOW) * width * 8


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_it_is_given_back():
    def mapped() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0])

    zeros(64 * PAGE)
    gc.collect()
    before = mapped()
    for _ in range(100):
        zeros(64 * PAGE)
    gc.collect()
    assert mapped() - before < 64 * PAGE // 4096
