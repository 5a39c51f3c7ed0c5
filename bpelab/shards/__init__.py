"""Shards: a corpus as files of token ids. `BPETokenizer.encode_files` writes them, `open_shards` reads them.

`index.py` says what a folder of shards contains. The names are loaded on first use. This room may import `core`,
`corpus` and `streaming`. Begin with `encoding.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .fingerprints import fingerprint as fingerprint
    from .reader import Shards as Shards, open_shards as open_shards

_HOMES = {"Shards": "reader", "open_shards": "reader", "fingerprint": "fingerprints"}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
