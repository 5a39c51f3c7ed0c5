"""The texts of a run: what the user names, and otherwise what is at hand. Nothing is ever downloaded."""

import lzma
import re
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ..errors import BPELabError
from ..notebook import book_text

FOLDER_VARIABLE = "BPELAB_BENCH_TEXTS"
SMALLEST = 2_000_000
"""Bytes from which a file of a folder is taken: shorter ones have too little that is new."""
CODE = 24_000_000
WARM = 12_000_000
"""Bytes that warm up, at most: what a process at work has met after a short while."""


@dataclass(frozen=True)
class Text:
    """A text and where it comes from."""

    name: str
    source: str
    content: str

    @property
    def bytes(self) -> int:
        """Its size in UTF-8."""
        return len(self.content.encode())


def at_hand(folder: Path | None, named: Iterable[str] = (), most: int | None = None) -> list[Text]:
    """The texts of a run: the files in `named` ("NAME=FILE") alone, or else those in `folder` and the code at hand.

    Without either, the book's own text stands in for prose. At most `most` characters are read of each.
    Raises BPELabError naming the file that can't be read.
    """
    texts = [_named(entry, most) for entry in named]
    if texts:
        return texts
    if folder is not None:
        if not folder.is_dir():
            raise BPELabError(f"{folder} is no folder of texts")
        files = [path for path in sorted(folder.iterdir()) if path.name.endswith((".txt", ".txt.xz"))]
        texts = [read(_name(path), path, most) for path in files]
        texts = [text for text in texts if text.bytes >= SMALLEST]
        texts.sort(key=lambda text: (text.name != "english", text.name))
    texts = texts or [Text("book", "the frozen text that comes with bpelab", plain(book_text()[:most]))]
    return [texts[0], Text("code", "the standard library's sources", plain(code()[:most])), *texts[1:]]


def _name(path: Path) -> str:
    """`english` for english_16MB.txt.xz."""
    return re.sub(r"_\d+[kMG]B$", "", path.name.partition(".")[0])


def _named(entry: str, most: int | None) -> Text:
    name, there, path = entry.partition("=")
    if not (name and there and path):
        raise BPELabError(f"--text takes NAME=FILE, not {entry!r}")
    return read(name, Path(path).expanduser(), most)


def read(name: str, path: Path, most: int | None = None) -> Text:
    """A UTF-8 file, plain or `.xz`."""
    try:
        if path.suffix == ".xz":
            with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
                content = file.read(most)
        else:
            with path.open(encoding="utf-8", newline="") as file:
                content = file.read(most)
    except (OSError, UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
        raise BPELabError(f"the text {name} can't be read from {path}: {error}") from error
    if not content.strip():
        raise BPELabError(f"the text {name}, {path}, is empty")
    return Text(name, path.name, plain(content))


def plain(text: str) -> str:
    """A text in which nothing looks like a special token: some libraries' quickest calls take those for what they mean.

    >>> plain("a <|endoftext|>")
    'a < |endoftext|>'
    """
    return text.replace("<|", "< |")


def code(most: int = CODE) -> str:
    """The standard library's sources in an order that mixes its packages, its tests left out."""
    root = Path(sysconfig.get_path("stdlib"))
    left_out = {"site-packages", "test", "tests", "idle_test", "lib2to3"}
    paths = sorted(path for path in root.rglob("*.py") if not left_out & set(path.relative_to(root).parts))
    Random(0).shuffle(paths)
    parts, size = [], 0
    for path in paths:
        try:
            parts.append(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        size += len(parts[-1])
        if size >= most:
            break
    return "\n".join(parts)


def parts(text: str, number: int, size: int) -> tuple[list[str], list[str]]:
    """Parts of a text for warming up, up to 12 MB, and the `number` behind them, each of `size` bytes or less.

    No part ends in white space: the pattern of cl100k was changed once in how a text's last spaces are cut, and
    libraries that have the older one would be left out for that.

    >>> parts("one two three four", 3, 100)
    (['one'], ['two', 'thre', 'e fo'])
    """
    step = max(1, min(_characters(text, size), len(text) // (number + 1)))
    several = [text[start : start + step].rstrip() for start in range(0, step * (len(text) // step), step)]
    warm = min(len(several) - number, max(1, WARM // size))
    return several[:warm], several[warm : warm + number]


def documents(text: str, size: int) -> list[str]:
    """A text in pieces of about `size` bytes, none of which ends in white space."""
    step = _characters(text, size)
    pieces = (text[start : start + step].rstrip() for start in range(0, len(text), step))
    return [piece for piece in pieces if piece]


def _characters(text: str, size: int) -> int:
    """How many characters of `text` take `size` bytes."""
    sample = text[: 1 << 20]
    return max(1, round(size * len(sample) / len(sample.encode())))
