"""The texts of a run: those that the user names, or texts found on this machine. Nothing is ever downloaded."""

import lzma
import re
import sysconfig
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ..errors import BPELabError
from ..notebook.live_source import book_text

MIN_FILE_BYTES = 2_000_000
"""The minimum size of a file in a folder; shorter files have too little unseen text and are left out."""
STDLIB_CHARS = 24_000_000
DOCUMENT_BYTES = 2_000
"""The size of a document in batches and loops, in bytes."""
WARM_UP_BYTES = 12_000_000
"""The maximum size of the warm-up text: what a process in production has encoded after a short while."""


@dataclass(frozen=True)
class Text:
    """A text and where it comes from."""

    name: str
    source: str
    content: str

    @property
    def bytes(self) -> int:
        """The size of the text in UTF-8, in bytes."""
        return len(self.content.encode())


def find_texts(folder: Path | None, named: Iterable[str] = (), max_chars: int | None = None) -> list[Text]:
    """Return the texts of a run: the files in `named` ("NAME=FILE"), or else those in `folder` and Python's own code.

    Without either, the book's own text serves as prose. At most `max_chars` characters of each are read.
    Raises BPELabError naming the file that can't be read.
    """
    texts = [_named(entry, max_chars) for entry in named]
    if texts:
        return texts
    if folder is not None:
        if not folder.is_dir():
            raise BPELabError(f"{folder} is not a folder of texts")
        files = [path for path in sorted(folder.iterdir()) if path.name.endswith((".txt", ".txt.xz"))]
        texts = [read(_name(path), path, max_chars) for path in files]
        texts = [text for text in texts if text.bytes >= MIN_FILE_BYTES]
        texts.sort(key=lambda text: (text.name != "english", text.name))
    if not texts:
        prose = escape_special_tokens(book_text()[:max_chars])
        texts = [Text("book", "the frozen text that comes with bpelab", prose)]
    code = escape_special_tokens(stdlib_sources()[:max_chars])
    return [texts[0], Text("code", "the standard library's sources", code), *texts[1:]]


def _name(path: Path) -> str:
    """Return `english` for english_16MB.txt.xz."""
    return re.sub(r"_\d+[kMG]B$", "", path.name.partition(".")[0])


def _named(entry: str, max_chars: int | None) -> Text:
    name, equals, path = entry.partition("=")
    if not (name and equals and path):
        raise BPELabError(f"--text takes NAME=FILE, not {entry!r}")
    return read(name, Path(path).expanduser(), max_chars)


def read(name: str, path: Path, max_chars: int | None = None) -> Text:
    """Read a UTF-8 file, plain or `.xz`."""
    try:
        if path.suffix == ".xz":
            with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
                content = file.read(max_chars)
        else:
            with path.open(encoding="utf-8", newline="") as file:
                content = file.read(max_chars)
    except (OSError, UnicodeDecodeError, lzma.LZMAError, EOFError) as error:
        raise BPELabError(f"the text {name} can't be read from {path}: {error}") from error
    if not content.strip():
        raise BPELabError(f"the text {name}, {path}, is empty")
    return Text(name, path.name, escape_special_tokens(content))


def escape_special_tokens(text: str) -> str:
    """Insert a space into anything like a special token: the fastest calls of some libraries would parse it as one.

    >>> escape_special_tokens("a <|endoftext|>")
    'a < |endoftext|>'
    """
    return text.replace("<|", "< |")


def stdlib_sources(max_chars: int = STDLIB_CHARS) -> str:
    """Read the standard library's sources, without its tests, in an order that mixes its packages."""
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
        if size >= max_chars:
            break
    return "\n".join(parts)


def split_parts(text: str, count: int, size: int) -> tuple[list[str], list[str]]:
    """Split a text into parts of at most `size` bytes: up to 12 MB for warming up, and the next `count` to measure.

    No part ends in white space: cl100k's pattern once changed how it splits trailing spaces, and libraries with
    the older version would be left out just for that.

    >>> split_parts("one two three four", 3, 100)
    (['one'], ['two', 'thre', 'e fo'])
    """
    step = max(1, min(_chars_for(text, size), len(text) // (count + 1)))
    chunks = [text[start : start + step].rstrip() for start in range(0, step * (len(text) // step), step)]
    warm = min(len(chunks) - count, max(1, WARM_UP_BYTES // size))
    return chunks[:warm], chunks[warm : warm + count]


def split_documents(text: str, size: int = DOCUMENT_BYTES) -> list[str]:
    """Split a text into documents of about `size` bytes, none of which ends in white space."""
    step = _chars_for(text, size)
    pieces = (text[start : start + step].rstrip() for start in range(0, len(text), step))
    return [piece for piece in pieces if piece]


def split_short(text: str) -> list[str]:
    """Split the beginning of a text into up to 2,000 texts of 60 characters."""
    return [text[start : start + 60].rstrip() for start in range(0, min(len(text), 120_000), 60)]


def split_lines(text: str) -> list[str]:
    """Return the lines of a text that have 50 to 200 bytes; longer lines are cut into such pieces.

    >>> [len(line) for line in split_lines("short\\n" + "-" * 70 + "\\n" + "a line " * 100)]
    [70, 120, 119, 120, 120, 120, 99]
    """
    lines = (line for whole in text.split("\n") for line in (split_documents(whole, 120) if whole else ()))
    return [line for line in lines if 50 <= len(line.encode()) <= 200]


def _chars_for(text: str, size: int) -> int:
    """Estimate how many characters of `text` fit into `size` bytes."""
    sample = text[: 1 << 20]
    return max(1, round(size * len(sample) / len(sample.encode())))


def _b64(size: int) -> str:
    return b64encode(Random(3).randbytes(size * 3 // 4)).decode()


PATHOLOGICAL: dict[str, Callable[[int], str]] = {
    "one letter": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "newlines": lambda size: "\n" * size,
    "dashes": lambda size: "-" * size,
    "equals signs": lambda size: "=" * size,
    "digits": lambda size: "".join(Random(1).choices("0123456789", k=size)),
    "random letters": lambda size: "".join(Random(2).choices("abcdefghijklmnopqrstuvwxyz", k=size)),
    "base64": _b64,
    "ACGT": lambda size: "".join(Random(4).choices("ACGT", k=size)),
}
"""Inputs on which some libraries take minutes: name -> a function from a size in bytes to a text."""
