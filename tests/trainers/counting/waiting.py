"""How tests of clusters wait: never for ever, and for what they name."""

import time
import warnings
from contextlib import contextmanager

from bpelab._support import dask_wait
from bpelab._support.dask_wait import ClusterWaits

HUNG = 300
"""Seconds after which a test hangs: what it waits for takes one or two."""


def until(happened):
    """Wait for what happens; a test that waits in vain fails."""
    end = time.monotonic() + HUNG
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


@contextmanager
def beside(function):
    """A function called in a thread of its own; what it raises is raised at the end."""
    answer = dask_wait.run_in_thread(function)
    yield
    answer.result(HUNG)


@contextmanager
def heard():
    """What the library said of waits, as it says it; a function that waits until something is in it."""
    told = []

    def note(message, category, *rest):
        if issubclass(category, ClusterWaits):
            told.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = note
        yield lambda text: until(lambda: any(text in each for each in told))
