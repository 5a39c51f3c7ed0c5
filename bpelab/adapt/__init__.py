"""Adapting a model to another tokenizer: its embeddings are rewritten, with rows for tokens it never had.

`plan_adaptation` says what will be copied and what initialized, `adapt_model` writes the folder or the GGUF file,
`write_gguf` converts a folder to a file for llama.cpp, and `measure` says what was gained. Nothing here needs PyTorch.
Weights are read as a stream, and a model that can't be adapted correctly is refused with the reason. It may import
`chat`, for the files of models, and everything below. Begin with `row_map.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .folder import adapt_model as adapt_model
    from .gguf import write_gguf as write_gguf
    from .measuring import Measured as Measured, measure as measure
    from .plan import AdaptationPlan as AdaptationPlan, plan_adaptation as plan_adaptation
    from .row_map import RowMap as RowMap, map_rows as map_rows
    from .row_rules import ROW_RULES as ROW_RULES

_HOMES = {
    "adapt_model": "folder",
    "write_gguf": "gguf",
    "Measured": "measuring",
    "measure": "measuring",
    "AdaptationPlan": "plan",
    "plan_adaptation": "plan",
    "RowMap": "row_map",
    "map_rows": "row_map",
    "ROW_RULES": "row_rules",
}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
