"""Open a tokenizer.json with its large parts read in C: the vocabulary, and the merges as columns of ids.

These two are nearly all of a large file. Where C has read them, Python's json reads the rest. Where there is no
extension, or anything in these parts is odd, it reads the whole file, and `tokenizer_json.py` says what is wrong.

Chapter: File formats. Cost: half a second for 33 MB with 262,000 tokens and 515,000 merges; four times that in Python.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import TYPE_CHECKING

from .._support.json_document import JSONFile
from ..errors import TokenizerFileError
from ..native import extension

if TYPE_CHECKING:
    from ..model.lazy_model import MergeColumns


def open_json(path: Path, content: bytes) -> tuple[JSONFile, MergeColumns | None]:
    """Return the file, and its merges if they were read in C; else they are in the file's data, and None is returned.

    Raises TokenizerFileError for what is no JSON object.
    """
    if extension() is not None:
        from ..native._core import model_json

        if (parts := model_json(content)) is not None:
            (vocab, *columns), *spans = parts
            try:
                file = JSONFile(path, _without(content, sorted(spans)))
            except TokenizerFileError:  # its line is one of the whole file
                return JSONFile(path, content), None
            model = file.data["model"]
            if not model.get("continuing_subword_prefix"):  # a new token is then its two parts
                model["vocab"] = vocab
                left, right, new = (array("I", column) for column in columns)
                return file, (array("I", range(len(new))), left, right, new)
    return JSONFile(path, content), None


def _without(content: bytes, spans: list[tuple[int, int]]) -> bytes:
    """Return the content with nulls in place of two values."""
    (first, first_stop), (second, second_stop) = spans
    return b"null".join((content[:first], content[first_stop:second], content[second_stop:]))
