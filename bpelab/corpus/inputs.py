"""The files that texts are read from: which they are, and what each holds.

A name's ending says what a file holds (`input_forms.py`). A size and a time of change are noted, so that a run that
goes on later can tell that a file is another one by now.
"""

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import CorpusError
from ..formats.detect import in_home
from .input_forms import ENDINGS, FORMS, check_form, form_of
from .remote import is_address, look, meant

Paths = str | Path | Iterable[str | Path]


@dataclass
class Input:
    """A file of texts.

    Attributes:
        path: as it was given, a path or an address (remote.py).
        form: one of FORMS.
        size: in bytes.
        modified: when it was changed last, in nanoseconds.
        documents: how many were found in it so far.
    """

    path: str
    form: str
    size: int
    modified: int
    documents: int = 0


def find_inputs(paths: Paths, form: str | None = None, otherwise: str | None = None) -> list[Input]:
    """The files that are meant by paths, folders and globs, in that order; those of one folder or glob sorted by name.

    Raises CorpusError for what is not there, not a regular file, named twice, or of a form that the name doesn't tell,
    if there is no form `otherwise`, and ValueError for a form that is none.
    """
    check_form(form)
    found = [look_at(path, form_of(path, form) or otherwise) for path in files(paths, form)]
    seen: set[str] = set()
    for item in found:
        real = item.path if is_address(item.path) else os.path.realpath(item.path)
        if real in seen:
            raise CorpusError(f"{item.path}: is named twice, so that its documents would be there twice; name it once")
        seen.add(real)
    return found


def files(paths: Paths, form: str | None = None) -> Sequence[str]:
    """The paths of the files that are meant; of a folder those whose names tell a form, or all if one is given.

    Raises CorpusError for what stands for no file.
    """
    listed = [paths] if isinstance(paths, (str, Path)) else list(paths)
    if not listed:
        raise CorpusError("there is no input: name at least one file")
    return [path for item in listed for path in _meant(item, form)]


def _meant(item: str | Path, form: str | None) -> Iterator[str]:
    if not isinstance(item, (str, Path)):
        raise TypeError(f"an input is a path (str or pathlib.Path), not {type(item).__name__}")
    if isinstance(item, str) and is_address(item):
        listed = meant(item)
        found = listed if listed == [item] else [name for name in listed if form_of(name, form) is not None]
        if not found:
            raise CorpusError(f"{item}: there is no file whose name ends as in {', '.join(ENDINGS)}")
        yield from found
        return
    path = str(in_home(item))
    if os.path.isdir(path):
        found = sorted(_inside(path, form))
        if not found:
            raise CorpusError(f"{path}: the folder holds no file whose name ends as in {', '.join(ENDINGS)}")
    elif os.path.exists(path) or not glob.has_magic(path):
        found = [path]
    else:
        found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
        if not found:
            raise CorpusError(f"{path}: no file fits this pattern")
    yield from found


def _inside(folder: str, form: str | None) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and form_of(name, form) is not None:
                yield os.path.join(parent, name)


def look_at(path: str, form: str | None = None) -> Input:
    """The file at `path` as it is now. Raises CorpusError."""
    if is_address(path):
        size, modified = look(path)
    else:
        try:
            found = os.stat(path)
        except (OSError, ValueError) as error:  # ValueError: a name with a null character
            raise CorpusError(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
        if not stat.S_ISREG(found.st_mode):
            raise CorpusError(f"{path}: is not a regular file; what comes through a pipe has to be in a file first")
        size, modified = found.st_size, found.st_mtime_ns
    known = form_of(path, form)
    if known is None:
        raise CorpusError(
            f"{path}: the name doesn't tell what it holds; name the input form, one of {', '.join(FORMS)}"
        )
    return Input(path, known, size, modified)


def check_unchanged(source: Input) -> None:
    """Raise CorpusError if a file is not the one any more that was looked at."""
    now = look_at(source.path, source.form)
    if (now.size, now.modified) != (source.size, source.modified):
        raise CorpusError(f"{source.path}: was changed while it was read; start again when nobody writes to it")
