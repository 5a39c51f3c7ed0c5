"""Trainers learn merges from counted words. They differ in speed and in nothing else.

Each is called as `trainer(words, num_merges, min_frequency, keep_counts)` and yields a `TrainStep` for each merge.
"""

from ..trace import Trainer
from .incremental import train_incremental
from .naive import train_naive

TRAINERS: dict[str, Trainer] = {"naive": train_naive, "incremental": train_incremental}

__all__ = ["TRAINERS", "find_trainer", "train_incremental", "train_naive"]


def find_trainer(name: str) -> Trainer:
    """The trainer called `name`; "auto" is the fastest there is. Raises ValueError for a name that is unknown."""
    if name == "auto":
        name = "incremental"
    if name not in TRAINERS:
        raise ValueError(f"there is no trainer {name!r}; choose auto or one of {', '.join(TRAINERS)}")
    return TRAINERS[name]
