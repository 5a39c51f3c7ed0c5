"""The registry of measures: name -> the function that runs one step of it in a worker."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from .checking import check
from .fresh_process import fresh
from .isolated_measures import load, memory, pathological, train
from .job import Step
from .paired_measures import batch, calls, cold, decode, documents_in_a_loop, warm

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
    "superwords": train,
}
