"""Progress bars for work that takes long: after one second, where a person looks on."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any


def bar(progress: bool | None, total: int | None, what: str, unit: str) -> AbstractContextManager[Callable[[int], Any]]:
    """A progress bar after one second, where a person looks on (or always, or never); its `update` method."""
    quiet = nullcontext(lambda size: None)
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return quiet
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return quiet
    shown = tqdm(total=total, desc=what, unit=unit, unit_scale=True, delay=0 if progress else 1, leave=bool(progress))
    return _Updating(shown)


class _Updating(AbstractContextManager[Callable[[int], Any]]):
    def __init__(self, shown: Any) -> None:
        self._shown = shown

    def __enter__(self) -> Callable[[int], Any]:
        return self._shown.update  # type: ignore[no-any-return]

    def __exit__(self, *error: object) -> None:
        self._shown.close()
