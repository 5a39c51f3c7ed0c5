"""A trained tokenizer as a folder that others can open, believe and check, and, if asked, as a repository on the Hub.

`publish` writes the folder: the formats that hold the tokenizer, a card with measured numbers, the text that they were
measured on, and the hash of every file. `upload` sends such a folder, and nothing that was changed since.
"""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .card import measure as measure, stated as stated
    from .folder import (
        Written as Written,
        changed_files as changed_files,
        publish as publish,
        write_hashes as write_hashes,
    )
    from .hub import upload as upload

_HOMES = {
    "measure": "card",
    "stated": "card",
    "Written": "folder",
    "changed_files": "folder",
    "publish": "folder",
    "write_hashes": "folder",
    "upload": "hub",
}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazily(_HOMES, globals())
