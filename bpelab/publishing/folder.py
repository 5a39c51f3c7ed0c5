"""Write a tokenizer's folder, whole or not at all, with the hash of each file.

All is written into a folder beside the one that is wanted, opened again and compared, and only then given its name. So
nobody finds half of it, and no file in it gives other ids than the tokenizer.

Chapter: Your own tokenizer. Cost: that of encoding the text once for each format.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

from ..errors import ConversionError, PublishingError
from ..formats.convert import check, convert
from ..formats.detect import in_home
from ..progress import bar
from ..textio import temporary_name, utf8, valid_text, write_atomically
from ..tokenizer import BPETokenizer
from .card import CARD, TEXT, measure, write_card
from .held_out import learned_from
from .hostile import hostile_texts

HASHES = "SHA256SUMS"
NAMES = {"gguf": "{}.gguf", "tiktoken": "{}.tiktoken", "minbpe": "{}.model"}
"""The formats beside tokenizer.json, and what their files are called."""
MOST_FILES, MOST_BYTES = 1_000, 1_000_000_000


class Written(NamedTuple):
    """A format that was tried: its file, what it leaves out, and, where it wasn't written, why not."""

    file: str
    left_out: tuple[str, ...] = ()
    refused: str = ""

    def __str__(self) -> str:
        return f"not written: {self.refused}" if self.refused else ", ".join(self.left_out) or "nothing"


def publish(
    tokenizer: BPETokenizer, folder: str | Path, text: str, *, about: str = "", progress: bool | None = False
) -> list[Written]:
    """Write a folder to give away: tokenizer.json and every other format that holds the ids, a card, and hashes.

    Args:
        folder: a new one, or an empty one.
        text: what the card's numbers are measured on. It goes into the folder. The tokenizer must not have been trained
            on it, which shows where training on it would learn the same merges.
        about: what the card says first, in Markdown: what it was trained on, under which licence it may be used.
        progress: a bar of the formats: True, False, or None for where standard error is a terminal.

    Returns what became of each format. Raises PublishingError for a folder that isn't empty or can't be written, for a
    text without words, and for the text that the tokenizer was trained on; ConversionError if a file gives other ids
    than the tokenizer, or tokenizer.json can't hold it. Then there is no folder.

    >>> import tempfile
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, 262, pattern="gpt2")
    >>> with tempfile.TemporaryDirectory() as home:
    ...     for written in publish(tokenizer, f"{home}/low", "slow and lower"):
    ...         print(f"{written.file}: {written}")
    tokenizer.json: nothing
    low.gguf: nothing
    low.tiktoken: pattern
    low.model: nothing
    """
    path = Path(os.path.abspath(in_home(folder)))
    if not valid_text(text).split():
        raise PublishingError("a text without words measures nothing; give one of some pages")
    if learned_from(tokenizer, text):
        raise PublishingError(
            "the tokenizer was trained on this text: training on it learns the same merges. Numbers measured on it "
            "would flatter; give a text that it has not seen"
        )
    if os.path.lexists(path) and not (path.is_dir() and not path.is_symlink() and not any(path.iterdir())):
        raise PublishingError(f"{folder} is there already: delete it, choose another name, or `upload` it as it is")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_name(path)
        temporary.mkdir()
        try:
            with bar(progress, len(NAMES) + 2, "writing", " files") as advance:
                formats = _write(tokenizer, temporary, path.name, text, about, advance)
            _rename(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as error:
        raise PublishingError(f"{folder} can't be written: {error.strerror or error}") from error
    return formats


def _write(
    tokenizer: BPETokenizer, folder: Path, name: str, text: str, about: str, advance: Callable[[int], object]
) -> list[Written]:
    (folder / TEXT).write_bytes(utf8(text))
    texts = [text, *hostile_texts()]
    tokenizer.save(folder)
    check(tokenizer, folder, "huggingface", texts)
    formats = [Written("tokenizer.json")]
    advance(1)
    for target, form in NAMES.items():
        file = form.format(name)
        advance(1)
        try:
            lost = convert(tokenizer, folder / file, target)
        except ConversionError as error:
            formats.append(Written(file, refused=str(error)))
            continue
        check(tokenizer, folder / file, target, texts)
        formats.append(Written(file, tuple(loss.feature for loss in lost)))
    card = write_card(name, tokenizer, measure(tokenizer, text), [(each.file, str(each)) for each in formats], about)
    (folder / CARD).write_bytes(utf8(card))
    write_hashes(folder)
    return formats


def _rename(temporary: Path, path: Path) -> None:
    if path.exists():
        path.rmdir()  # empty: Windows renames onto nothing
    temporary.rename(path)


def write_hashes(folder: str | Path) -> None:
    """Write SHA256SUMS anew, after the card was edited, say. Raises as `changed_files` does."""
    lines = [f"{digest}  {name}\n" for name, digest in sorted(_hashed(Path(folder)))]
    write_atomically(Path(folder, HASHES), "".join(lines).encode())


def changed_files(folder: str | Path) -> list[str]:
    """The files that SHA256SUMS doesn't know as they are: changed, gone, or new; sorted, as a/b on every system.

    Raises PublishingError where there is no SHA256SUMS, or the folder holds links, more than 1,000 files, or a file
    of more than 1 GB.
    """
    try:
        lines = Path(folder, HASHES).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise PublishingError(f"{folder} has no {HASHES} that can be read: `write_hashes` writes it") from error
    known = {(name, digest) for digest, _, name in (line.partition("  ") for line in lines)}
    return sorted({name for name, _ in known ^ set(_hashed(Path(folder)))})


def _hashed(folder: Path) -> Iterator[tuple[str, str]]:
    """Each file's name and hash, without SHA256SUMS itself."""
    for number, path in enumerate(sorted(folder.rglob("*"))):
        name = path.relative_to(folder).as_posix()
        if number >= MOST_FILES:
            raise PublishingError(f"{folder} has more than {MOST_FILES:,} files; a tokenizer has a dozen")
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise PublishingError(f"{folder}: {name} is a link or no file: put the file itself there")
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise PublishingError(f"{folder}: {name} has more than {MOST_BYTES:,} bytes, and no tokenizer's file has")
        if path.is_file() and name != HASHES:
            with path.open("rb") as file:
                yield name, file_digest(file, "sha256").hexdigest()
