"""Editing vocabularies after training: add tokens, remove tokens, merge another vocabulary.

`extend`, `prune`, `merge_vocabularies` and `add_superwords` take a tokenizer and return a new one. It may import the
layers below it, such as `trainers` and `core`. Begin with `edits.py`, which has these functions, then `pruning.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .edits import (
        Merged as Merged,
        Pruned as Pruned,
        add_superwords as add_superwords,
        extend as extend,
        merge_vocabularies as merge_vocabularies,
        prune as prune,
    )

_HOMES = dict.fromkeys(["Merged", "Pruned", "add_superwords", "extend", "merge_vocabularies", "prune"], "edits")

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
