"""What can be measured, by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from .alone import load, memory, pathological, train
from .checking import check
from .fresh import fresh
from .rounds import batch, calls, cold, decode, documents_in_a_loop, warm
from .steps import Step

if TYPE_CHECKING:
    from .worker import Worker

MEASURES: "dict[str, Callable[[Worker, Step], None]]" = {
    "check": check,
    "cold": cold,
    "warm": warm,
    "calls": calls,
    "documents": documents_in_a_loop,
    "batch": batch,
    "decode": decode,
    "load": load,
    "fresh": fresh,
    "memory": memory,
    "pathological": pathological,
    "train": train,
}
