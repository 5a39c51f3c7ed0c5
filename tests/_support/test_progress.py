"""Progress bars."""

import re

import pytest

from bpelab._support import progress
from bpelab._support.progress import progress_bar

tqdm_std = pytest.importorskip("tqdm.std")


@pytest.mark.parametrize("noted", [False, True])
def test_a_clock_that_is_set_back(monkeypatch, capsys, noted):
    """By an hour, while a bar is shown: no time is negative, and the bar goes on."""
    now = 10_000.0
    for module in (tqdm_std, progress):
        monkeypatch.setattr(module, "time", lambda: now, raising=False)
    with progress_bar(True, 100, "reading", "B") as bar:
        for step in range(10):
            now += -3_600 if step == 5 else 1
            if noted and step == 5:
                with pytest.warns(UserWarning, match="slow"):
                    bar.warn(UserWarning("slow"), "slow")
            bar(10)
    shown = capsys.readouterr().err
    assert re.search(r"100%.* 100/100 \[00:09<00:00, 11\.\dB/s", shown), shown
    assert not re.search(r"\[-|<-|-\d", shown), shown
