"""Editing vocabularies after training: add tokens, remove tokens, merge another vocabulary.

`extend`, `prune`, `merge_vocabularies` and `add_superwords` take a tokenizer and return a new one of the same class,
with the same encoder. It may import the layers below it, such as `trainers` and `core`. Begin with `pruning.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .adding_superwords import add_superwords as add_superwords
    from .extending import extend as extend
    from .merging import Merged as Merged, merge_vocabularies as merge_vocabularies
    from .pruning import Pruned as Pruned, prune as prune

_HOMES = {
    "Merged": "merging",
    "Pruned": "pruning",
    "add_superwords": "adding_superwords",
    "extend": "extending",
    "merge_vocabularies": "merging",
    "prune": "pruning",
}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
