"""The learned model: tokens, and the merges in the order in which they were learned.

`bpe.py` has the model, `rank_merges.py` the merges of a rank table, `initial_symbols.py` the symbols before the first
merge. `building.py` makes a model's tables of what a file lists, and `checks.py` checks them; `disk_cache.py` stores
models as arrays, and `lazy_model.py` reads these when they are needed. `merge_recovery.py` has the merges that a list
of ranks implies, with `early_merges.py` for tokens that rank before their parts and `equal_ranks.py` for those that
share a rank; `trace.py` has every step of a training or an encoding. It may import `vocab`, `regex`, `unicode` and
`_support`, but no encoder. Begin with `bpe.py`.
"""

from .bpe import BPEModel as BPEModel
from .rank_merges import RankMerges as RankMerges

__all__ = ["BPEModel"]
