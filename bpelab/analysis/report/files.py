"""Files of `bpelab report`: the texts and configs it reads, and where it may write its page.

Chapter: Measuring.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from ..._support.json_document import JSONFile, open_file
from ..._support.textio import STANDARD_INPUT, expand_user, read_text, write_atomically
from ...errors import BPELabError, TokenizerFileError
from ..shape import ModelShape
from .page import START

PAGE_ENDINGS = (".html", ".htm")


def read_texts(names: Sequence[str]) -> dict[str, str]:
    """Return the UTF-8 texts of files, by name; "-" is standard input.

    Raises BPELabError, with the file's name, if it isn't a file, can't be read, isn't UTF-8, or is empty.
    """
    texts = {"standard input" if name == STANDARD_INPUT else name: read_text(name) for name in names}
    for name, text in texts.items():
        if not text:
            raise BPELabError(f"{name} is empty, so there is nothing to measure; give a text that has characters")
    return texts


def read_shape(name: str) -> ModelShape:
    """Return the shape in a model's config.json. Raises BPELabError with the file's name."""
    config = JSONFile(Path(name)).data
    try:
        return ModelShape.from_config(config)
    except BPELabError as error:
        raise BPELabError(f"{name}: {error}") from error


def refuse_duplicates(names: Sequence[str]) -> None:
    """Raise BPELabError if two of `names` are the same file or folder, even if spelled differently."""
    names_by_path: dict[str, str] = {}
    for name in names:
        path = expand_user(name)
        path_key = os.path.realpath(path) if name != STANDARD_INPUT and os.path.exists(path) else name
        if path_key in names_by_path:
            duplicate = name if names_by_path[path_key] == name else f"{name}, which is {names_by_path[path_key]}"
            raise BPELabError(f"given twice: {duplicate}")
        names_by_path[path_key] = name


def refuse_to_overwrite(out: Path, tokenizers: Sequence[str], texts: Sequence[str]) -> None:
    """Raise BPELabError if a page at `out` would overwrite a file or change a tokenizer, or can't be written.

    An existing file is replaced only if it is a report and not one of the inputs. A new file in a tokenizer's folder
    must end in .html, since files with other names there are read as parts of the tokenizer.
    """
    if str(out) == STANDARD_INPUT:
        raise BPELabError("--out - is not a file: name the file that the page is written to")
    if os.path.isdir(out):  # unlike Path.is_dir, never raises OSError, whatever the name
        raise BPELabError(f"--out {out} is a folder; name a file, such as {out / 'report.html'}")
    if not os.path.isdir(out.parent):
        raise BPELabError(f"--out {out}: there is no folder {out.parent}; create it first, or name another")
    paths = [path for path in map(expand_user, tokenizers) if os.path.exists(path)]
    if os.path.exists(out):
        if any(os.path.exists(path) and os.path.samefile(path, out) for path in [*paths, *map(Path, texts)]):
            raise BPELabError(f"--out {out} is one of the files to be read, and would be overwritten")
        if not _is_page(out):
            raise BPELabError(
                f"--out {out} exists already and is not a report of bpelab's, so it is kept; name another"
            )
    folders = {(path if path.is_dir() else path.parent).resolve() for path in paths}
    if out.suffix.lower() not in PAGE_ENDINGS and out.parent.resolve() in folders:
        raise BPELabError(f"--out {out} is in a folder that a tokenizer is read from; let its name end in .html")


def _is_page(path: Path) -> bool:
    try:
        with open_file(path) as file:
            return file.read(len(START)) == START.encode()
    except (OSError, TokenizerFileError):  # can't be read, or is a pipe
        return False


def write_page(out: Path, html: str) -> None:
    """Write the page atomically. Raises BPELabError if it can't be written."""
    try:
        write_atomically(out, html.encode())
    except OSError as error:
        raise BPELabError(f"--out {out} can't be written: {error.strerror or error}") from error
