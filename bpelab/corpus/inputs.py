"""Input files: the files that paths, folders, globs and addresses refer to, and the format of each.

The format follows from the file's extension (`file_formats.py`). Size and time of change are recorded, so that a
resumed run can tell whether a file was changed.
"""

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .._support.textio import expand_user
from .._support.validate import refuse_keyed
from ..errors import CorpusError
from .file_formats import ENDINGS, FORMS, detect_format, validate_format
from .fsspec_files import expand_address, is_address, stat_address

Paths = str | Path | Iterable[str | Path]


@dataclass
class Input:
    """A file of texts.

    Attributes:
        path: the path or address (fsspec_files.py), as given.
        form: one of FORMS.
        size: in bytes.
        modified: the time of its last change, in nanoseconds.
        documents: the number of documents found in it so far.
    """

    path: str
    form: str
    size: int
    modified: int
    documents: int = 0


def find_inputs(paths: Paths, form: str | None = None, default: str | None = None) -> list[Input]:
    """Return the files that paths, folders and globs refer to, in order; within a folder or glob, sorted by name.

    Raises CorpusError for a file that doesn't exist, isn't regular, is named twice, or has no known extension and
    no `default` format; ValueError for an unknown `form`.
    """
    validate_format(form)
    found = [stat_input(path, detect_format(path, form) or default) for path in input_paths(paths, form)]
    seen: set[str] = set()
    for item in found:
        real = item.path if is_address(item.path) else os.path.realpath(item.path)
        if real in seen:
            raise CorpusError(f"{item.path}: is named twice, so that its documents would be there twice; name it once")
        seen.add(real)
    return found


def input_paths(paths: Paths, form: str | None = None) -> Sequence[str]:
    """Return the paths of the input files; from a folder, those with a known extension, or all if `form` is given.

    Raises CorpusError for a path that matches no file.
    """
    refuse_keyed(paths, "the input")
    listed = [paths] if isinstance(paths, (str, Path)) else list(paths)
    if not listed:
        raise CorpusError("there is no input: name at least one file")
    return [path for item in listed for path in _expand(item, form)]


def _expand(item: str | Path, form: str | None) -> Iterator[str]:
    if not isinstance(item, (str, Path)):
        raise TypeError(f"an input is a path (str or pathlib.Path), not {type(item).__name__}")
    if isinstance(item, str) and is_address(item):
        listed = expand_address(item)
        found = listed if listed == [item] else [name for name in listed if detect_format(name, form) is not None]
        if not found:
            raise CorpusError(f"{item}: there is no file whose name ends as in {', '.join(ENDINGS)}")
        yield from found
        return
    path = str(expand_user(item))
    if os.path.isdir(path):
        found = sorted(_files_in(path, form))
        if not found:
            raise CorpusError(f"{path}: the folder holds no file whose name ends as in {', '.join(ENDINGS)}")
    elif os.path.exists(path) or not glob.has_magic(path):
        found = [path]
    else:
        found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
        if not found:
            raise CorpusError(f"{path}: no file fits this pattern")
    yield from found


def _files_in(folder: str, form: str | None) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and detect_format(name, form) is not None:
                yield os.path.join(parent, name)


def stat_input(path: str, form: str | None = None) -> Input:
    """Return an Input for the file at `path` as it is now. Raises CorpusError."""
    if is_address(path):
        size, modified = stat_address(path)
    else:
        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:  # ValueError: a null character in the name
            raise CorpusError(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
        if not stat.S_ISREG(found.st_mode):
            raise CorpusError(f"{path}: is not a regular file; what comes through a pipe has to be in a file first")
        size, modified = found.st_size, found.st_mtime_ns
    known = detect_format(path, form)
    if known is None:
        raise CorpusError(f"{path}: the name doesn't tell what it holds; pass input_format, one of {', '.join(FORMS)}")
    return Input(path, known, size, modified)


def check_unchanged(source: Input) -> None:
    """Raise CorpusError if a file was changed since its size and time were recorded."""
    now = stat_input(source.path, source.form)
    if (now.size, now.modified) != (source.size, source.modified):
        raise CorpusError(f"{source.path}: was changed while it was read; start again when nobody writes to it")
