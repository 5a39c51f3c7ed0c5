"""Corpora as shards of token ids, as training reads them: `BPETokenizer.encode_files` writes, `open_shards` reads.

What is in a folder of shards, index.py says. The names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .fingerprints import fingerprint as fingerprint
    from .reading import Shards as Shards, open_shards as open_shards

_HOMES = {"Shards": "reading", "open_shards": "reading", "fingerprint": "fingerprints"}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazily(_HOMES, globals())
