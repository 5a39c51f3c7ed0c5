"""Lists of ints that kernels make: right values, and every reference counted."""

import gc
import sys

import numpy as np
import pytest
from numba.extending import intrinsic

from bpelab.compiled import calls, python_objects
from bpelab.compiled.jit import entry
from bpelab.compiled.parts import INT64

pytestmark = pytest.mark.slow  # numba's kernels are compiled: half a minute


def by_calls(monkeypatch):
    """What makes lists where the place of their items is not known: through Python's own function."""
    monkeypatch.setattr(python_objects, "ITEMS", None)
    list_of = intrinsic(python_objects._list_of)

    def list_slowly(ids, count, ints, known):
        return list_of(ids, count, ints, known)

    return entry(python_objects.python_object(INT64, INT64, INT64, INT64))(list_slowly)()


@pytest.fixture(params=["directly", "by calls"])
def make(request, monkeypatch):
    """`(ids, ints) -> list`, made in one of the two ways."""
    kernel = calls.list_at() if request.param == "directly" else by_calls(monkeypatch)
    return lambda ids, ints: kernel(ids.ctypes.data, len(ids), ints.ctypes.data, len(ints))


def test_values_of_all_sizes(make):
    rng = np.random.default_rng(0)
    for count in (0, 1, 2, 15, 16, 17, 100, 5_000):
        for known in (1, 7, 1_000, 300_000):
            ids, ints = rng.integers(0, 400_000, count).astype(np.uint32), np.empty(known, object)
            for _ in range(2):  # ints are made, then found
                assert make(ids, ints) == ids.tolist()
            kept = {place for place, value in enumerate(ints) if value is not None}
            assert kept == {value for value in ids.tolist() if value < known}
    largest = np.array([2**32 - 1, 0, 2**31], np.uint32)
    assert make(largest, np.empty(4, object)) == largest.tolist()


def test_references_are_counted(make):
    ids, ints = np.array([70_000] * 1_000 + [70_001, 99_999], np.uint32), np.empty(80_000, object)
    first = make(ids, ints)
    before = sys.getrefcount(ints[70_000])
    second = make(ids, ints)
    after = sys.getrefcount(ints[70_000])  # not inside an assert, which holds values of its own
    assert second == first and after == before + 1_000
    assert second[0] is first[0] and second[-1] is not first[-1]
    del second
    gc.collect()
    after = sys.getrefcount(ints[70_000])
    assert after == before
    del ints
    assert first == ids.tolist()  # which lives on


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="the place is CPython's")
def test_the_place_of_items_is_found():
    offset = python_objects.ITEMS
    assert offset is not None and 0 < offset < list.__basicsize__
