"""Progress bars, by default shown after one second and only in a terminal."""

import sys
import warnings
from contextlib import AbstractContextManager
from time import time
from typing import Any


class Bar(AbstractContextManager["Bar"]):
    """A progress bar: call it with the amount of work done. It does nothing if `shown` is None."""

    def __init__(self, shown: Any = None) -> None:
        self._shown = shown

    def __call__(self, size: int) -> None:
        if self._shown is not None:
            follow_clock(self._shown)
            self._shown.update(size)

    def warn(self, warning: Warning, note: str) -> None:
        """Issue a warning on a separate line, and show a note on the bar until the next one."""
        if self._shown is not None:
            self._shown.clear()
        warnings.warn(warning, stacklevel=2)
        if self._shown is not None:
            follow_clock(self._shown)
            self._shown.set_postfix_str(note)

    def __exit__(self, *error: object) -> None:
        if self._shown is not None:
            follow_clock(self._shown)
            self._shown.close()


def follow_clock(shown: Any) -> None:
    """Shift a tqdm bar's times if the clock was set back, since it would otherwise show negative ones."""
    back = 0 if shown.disable else shown.last_print_t - time()
    if back > 0:
        shown.start_t -= back
        shown.last_print_t -= back


def progress_bar(progress: bool | None, total: int | None, what: str, unit: str) -> Bar:
    """Return a progress bar: shown at once if `progress`, never if False, after one second in a terminal if None."""
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return Bar()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Bar()
    delay = 0 if progress else 1
    return Bar(tqdm(total=total, desc=what, unit=unit, unit_scale=True, delay=delay, leave=bool(progress)))
