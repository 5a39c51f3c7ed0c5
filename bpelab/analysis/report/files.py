"""What `bpelab report` reads besides tokenizers, and where its page may be written. Chapter: Measuring."""

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import BPELabError, TokenizerFileError
from ..formats.detect import in_home
from ..formats.json_file import JSONFile, open_file
from ..options import STANDARD_INPUT, read_text
from ..textio import write_atomically
from .report_page import START
from .shape import Shape

PAGES = (".html", ".htm")


def read_texts(names: Sequence[str]) -> dict[str, str]:
    """The UTF-8 texts of files, by name; "-" is standard input.

    Raises BPELabError naming the file that is none, can't be read, isn't UTF-8, or has no characters.
    """
    texts = {"standard input" if name == STANDARD_INPUT else name: read_text(name) for name in names}
    for name, text in texts.items():
        if not text:
            raise BPELabError(f"{name} is empty, so there is nothing to measure; give a text that has characters")
    return texts


def read_shape(name: str) -> Shape:
    """The shape in a model's config.json. Raises BPELabError naming the file."""
    config = JSONFile(Path(name)).data
    try:
        return Shape.from_config(config)
    except BPELabError as error:
        raise BPELabError(f"{name}: {error}") from error


def refuse_twice(names: Sequence[str]) -> None:
    """Raise BPELabError where two of `names` are one file or folder, however they are spelled."""
    seen: dict[str, str] = {}
    for name in names:
        path = in_home(name)
        place = os.path.realpath(path) if name != STANDARD_INPUT and os.path.exists(path) else name
        if place in seen:
            spelled = name if seen[place] == name else f"{name}, which is {seen[place]}"
            raise BPELabError(f"given twice: {spelled}")
        seen[place] = name


def refuse_to_overwrite(out: Path, tokenizers: Sequence[str], texts: Sequence[str]) -> None:
    """Raise BPELabError where a page at `out` would destroy a file, or change a tokenizer, or can't be.

    A file that is there is replaced only if it is such a page and none of those to be read. A new one in the folder of
    a tokenizer has to be named as a page, since by their names the other files there are what is read as a tokenizer.
    """
    if str(out) == STANDARD_INPUT:
        raise BPELabError("--out - is no file: the page is written to one, so name it")
    if os.path.isdir(out):  # unlike Path.is_dir, never an OSError, whatever the name
        raise BPELabError(f"--out {out} is a folder; name a file, such as {out / 'report.html'}")
    if not os.path.isdir(out.parent):
        raise BPELabError(f"--out {out}: there is no folder {out.parent}; make it first, or name another place")
    paths = [path for path in map(in_home, tokenizers) if os.path.exists(path)]
    if os.path.exists(out):
        if any(os.path.exists(path) and os.path.samefile(path, out) for path in [*paths, *map(Path, texts)]):
            raise BPELabError(f"--out {out} is one of the files to be read, and would be overwritten")
        if not _is_page(out):
            raise BPELabError(f"--out {out} is there already and is no report of bpelab's, so it stays; name another")
    folders = {(path if path.is_dir() else path.parent).resolve() for path in paths}
    if out.suffix.lower() not in PAGES and out.parent.resolve() in folders:
        raise BPELabError(f"--out {out} lies where a tokenizer is read from; let its name end in .html")


def _is_page(path: Path) -> bool:
    try:
        with open_file(path) as file:
            return file.read(len(START)) == START.encode()
    except (OSError, TokenizerFileError):  # it can't be read, or is a pipe
        return False


def write_page(out: Path, html: str) -> None:
    """Write the page whole or not at all. Raises BPELabError where that can't be done."""
    try:
        write_atomically(out, html.encode())
    except OSError as error:
        raise BPELabError(f"--out {out} can't be written: {error.strerror or error}") from error
