"""Trainers learn merges from counted pre-tokens. They differ only in speed.

Each is called as `trainer(pre_tokens, num_merges, min_frequency, keep_counts)` and yields a `TrainStep` for each merge.
Counting is separate (`counting/`); `superwords/` learns tokens that span words; `train.py` puts the steps together.
It may import `core`, `native` and `corpus`. Begin with `naive.py`, then `incremental.py`.
"""

from .. import native as core
from ..model.trace import Trainer
from .incremental import train_incremental
from .naive import train_naive
from .native import train_native

TRAINERS: dict[str, Trainer] = {"naive": train_naive, "incremental": train_incremental}

__all__ = ["TRAINERS", "find_trainer", "train_incremental", "train_naive", "train_native"]


def find_trainer(name: str) -> Trainer:
    """Return the trainer called `name`; "auto" is the one in C if it was built, otherwise "incremental".

    "native" is not in TRAINERS, whose trainers run everywhere. Raises ValueError for an unknown name.
    """
    if name == "auto":
        name = "incremental" if core.extension() is None else "native"
    if name == "native":
        return train_native
    if name not in TRAINERS:
        known = ", ".join(TRAINERS)
        raise ValueError(f"there is no trainer {name!r}; choose auto, native, or one of {known}")
    return TRAINERS[name]
