"""The learned model: tokens, and the merges in the order in which they were learned.

`bpe.py` has the model, `initial_symbols.py` the symbols before the first merge, `merge_recovery.py` the merges
that a list of ranks implies, `trace.py` every step of a training or an encoding, `disk_cache.py` models stored as
arrays. It may import `vocab`, `regex`, `unicode` and `_support`, but no encoder. Begin with `bpe.py`.
"""

from .bpe import BPEModel as BPEModel, RankMerges as RankMerges

__all__ = ["BPEModel", "RankMerges"]
