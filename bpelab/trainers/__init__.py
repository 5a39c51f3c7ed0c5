"""Trainers learn merges from counted words. They differ in speed and in nothing else.

Each is called as `trainer(words, num_merges, min_frequency, keep_counts)` and yields a `TrainStep` for each merge.
"""

from ..trace import Trainer
from .compiled import train_compiled
from .incremental import train_incremental
from .naive import train_naive

TRAINERS: dict[str, Trainer] = {"naive": train_naive, "incremental": train_incremental}

__all__ = ["TRAINERS", "find_trainer", "train_compiled", "train_incremental", "train_naive"]


def find_trainer(name: str) -> Trainer:
    """The trainer called `name`; "auto" is the one for a corpus of any size. Raises ValueError for an unknown name.

    "compiled" needs numba and is not in TRAINERS, whose trainers run everywhere.
    """
    if name == "compiled":
        return train_compiled
    if name == "auto":
        name = "incremental"
    if name not in TRAINERS:
        known = ", ".join(TRAINERS)
        raise ValueError(f"there is no trainer {name!r}; choose auto, compiled, distributed, or one of {known}")
    return TRAINERS[name]
