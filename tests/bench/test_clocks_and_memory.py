"""Clocks, garbage collection and resident memory."""

import gc
import sys
import time

import pytest

from bpelab._support.gc_paused import gc_paused
from bpelab.bench import machine
from bpelab.bench.machine import timed
from bpelab.errors import MissingDependencyError


def test_clocks():
    result, cpu, wall = timed(lambda: sum(range(200_000)))
    assert result == sum(range(200_000))
    assert 0 < cpu < 60
    assert 0 < wall < 60
    with gc_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_memory_where_there_is_no_proc(monkeypatch, tmp_path):
    """A thread looks for the maximum: what is taken and given back in between counts."""
    pytest.importorskip("psutil")
    monkeypatch.setattr(machine, "STATUS", tmp_path / "status")
    meter = machine.MemoryMeter()
    before = meter.current()
    meter.restart()
    taken = bytearray(b"x") * 100_000_000
    for _ in range(2_000):
        if meter._max > before + 80_000_000:
            break
        time.sleep(0.01)
    del taken
    assert meter.peak() > before + 80_000_000
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(MissingDependencyError, match="pip install psutil"):
        machine.MemoryMeter()
