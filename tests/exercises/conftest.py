"""No test of the exercises reads or writes the progress of whoever runs it."""

import pytest

from bpelab import exercises
from bpelab.exercises import progress_store


@pytest.fixture(autouse=True)
def no_progress(monkeypatch):
    monkeypatch.setenv("BPELAB_NO_PROGRESS", "1")
    monkeypatch.setattr(progress_store, "_solved", set())
    monkeypatch.setattr(exercises, "_hint_counts", {})
