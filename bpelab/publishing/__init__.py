"""Publish a tokenizer: as a folder that others can open and verify, and on request as a repository on the Hub.

`publish` writes the folder: the formats that can hold the tokenizer, a card with measured numbers, the text that they
were measured on, and the hash of every file. `upload` uploads such a folder, unless it was changed since. This room may
import the tokenizer and `analysis`. Begin with `folder.py`.
"""

from typing import TYPE_CHECKING

from .._support.lazy_imports import lazy_attributes

if TYPE_CHECKING:
    from .folder import FormatResult as FormatResult, changed_files as changed_files, publish as publish
    from .hub import upload as upload

_HOMES = {"publish": "folder", "FormatResult": "folder", "changed_files": "folder", "upload": "hub"}

__all__ = [*_HOMES]  # noqa: PLE0604
__getattr__, __dir__ = lazy_attributes(_HOMES, globals())
