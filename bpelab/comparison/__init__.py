"""Comparison of two tokenizers, or of one tokenizer at two times: differences, locks, drifting ids.

`diff.py` finds what changed, with the shortest text that shows it. `lock.py` records ids, so that a test notices when
they change. `drift.py` says whether ids are those that `encode` gives for their own text. It may import the layers
below it, such as `core`, `regex` and `chat_templates`. Begin with `diff.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .drift import DriftingRun as DriftingRun
    from .lock import (
        MovedProbe as MovedProbe,
        make_lock as make_lock,
        moved_probes as moved_probes,
        read_lock as read_lock,
        verify_lock as verify_lock,
        write_lock as write_lock,
    )
    from .result import PartDifference as PartDifference, TokenizerDifference as TokenizerDifference

_HOMES = {
    "TokenizerDifference": "result",
    "PartDifference": "result",
    "DriftingRun": "drift",
    **dict.fromkeys(["make_lock", "write_lock", "read_lock", "verify_lock", "moved_probes", "MovedProbe"], "lock"),
}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
