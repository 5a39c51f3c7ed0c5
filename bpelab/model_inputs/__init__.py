"""What a model is given: batches of ids with masks, truncated and padded, under the names of transformers.

It may import `core` and what is below. `Truncation` and `Padding` lie there, beside the specification that has them.
Begin with `assemble.py`, which `BPETokenizer.__call__` calls.
"""

from ..core.length_settings import Padding, Truncation

__all__ = ["Padding", "Truncation"]
