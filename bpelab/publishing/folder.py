"""The folder of a published tokenizer, written atomically, with the hash of each file.

All files are written to a temporary folder beside the requested one, opened again and compared; then it is renamed.
So readers never see an incomplete folder, and every file in it gives the tokenizer's ids.

Chapter: Publish your own tokenizer. Cost: encoding the text once for each format.
"""

import os
from collections.abc import Callable, Iterator
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

from .._support.new_folder import is_free, new_folder
from .._support.progress import progress_bar
from .._support.textio import expand_user, utf8, valid_text, write_atomically
from ..analysis.adversarial_texts import hostile_texts
from ..convert import check, convert
from ..errors import ConversionError, PublishingError
from ..tokenizer import BPETokenizer
from .card import CARD_FILE, TEXT_FILE, measure, write_card
from .held_out import trained_on

HASH_FILE = "SHA256SUMS"
FILE_NAMES = {"gguf": "{}.gguf", "tiktoken": "{}.tiktoken", "minbpe": "{}.model"}
"""Each format other than tokenizer.json -> the name of its file."""
MAX_FILES, MAX_FILE_BYTES = 1_000, 1_000_000_000


class FormatResult(NamedTuple):
    """The result of writing one format: its file, what it leaves out, and, if it wasn't written, why not."""

    file: str
    left_out: tuple[str, ...] = ()
    refused: str = ""

    def __str__(self) -> str:
        return f"not written: {self.refused}" if self.refused else ", ".join(self.left_out) or "nothing"


def publish(
    tokenizer: BPETokenizer, folder: str | Path, text: str, *, about: str = "", progress: bool | None = False
) -> list[FormatResult]:
    """Write a folder to share: tokenizer.json and every other format that keeps the ids, a card, and hashes.

    Args:
        folder: a new one, or an empty one.
        text: what the card's numbers are measured on. It is written to the folder. The tokenizer must not have been
            trained on it, which is detected if training on it learns the same merges.
        about: the beginning of the card, in Markdown: what it was trained on, under which licence it may be used.
        progress: whether to show a progress bar of the formats: True, False, or None for only in a terminal.

    Returns the result of each format. Raises PublishingError for a folder that isn't empty or can't be written, for a
    text without words, and for the text that the tokenizer was trained on; ConversionError if a file gives other ids
    than the tokenizer, or tokenizer.json can't hold it. After an error there is no folder.

    >>> import tempfile
    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, 262, pattern="gpt2")
    >>> with tempfile.TemporaryDirectory() as home:
    ...     for result in publish(tokenizer, f"{home}/low", "slow and lower"):
    ...         print(f"{result.file}: {result}")
    tokenizer.json: nothing
    low.gguf: nothing
    low.tiktoken: pattern
    low.model: nothing
    """
    path = Path(os.path.abspath(expand_user(folder)))
    if not valid_text(text).split():
        raise PublishingError("nothing can be measured on a text without words; pass one of some pages")
    if trained_on(tokenizer, text):
        raise PublishingError(
            "the tokenizer was trained on this text: training on it learns the same merges. Numbers measured on it "
            "would flatter; give a text that it has not seen"
        )
    if not is_free(path):
        raise PublishingError(f"{folder} exists already: delete it, choose another name, or `upload` it as it is")
    try:
        with (
            new_folder(path) as temporary,
            progress_bar(progress, len(FILE_NAMES) + 2, "writing", " files") as advance,
        ):
            formats = _write(tokenizer, temporary, path.name, text, about, advance)
    except OSError as error:
        raise PublishingError(f"{folder} can't be written: {error.strerror or error}") from error
    return formats


def _write(
    tokenizer: BPETokenizer, folder: Path, name: str, text: str, about: str, advance: Callable[[int], object]
) -> list[FormatResult]:
    (folder / TEXT_FILE).write_bytes(utf8(text))
    texts = [text, *hostile_texts()]
    tokenizer.save(folder)
    check(tokenizer, folder, "huggingface", texts)
    formats = [FormatResult("tokenizer.json")]
    advance(1)
    for target, form in FILE_NAMES.items():
        file = form.format(name)
        advance(1)
        try:
            unsupported = convert(tokenizer, folder / file, target)
        except ConversionError as error:
            formats.append(FormatResult(file, refused=str(error)))
            continue
        check(tokenizer, folder / file, target, texts)
        formats.append(FormatResult(file, tuple(loss.feature for loss in unsupported)))
    card = write_card(name, tokenizer, measure(tokenizer, text), [(each.file, str(each)) for each in formats], about)
    (folder / CARD_FILE).write_bytes(utf8(card))
    write_hashes(folder)
    return formats


def write_hashes(folder: str | Path) -> None:
    """Write SHA256SUMS again, for example after editing the card. Raises the errors of `changed_files`."""
    lines = [f"{digest}  {name}\n" for name, digest in sorted(_file_hashes(Path(folder)))]
    write_atomically(Path(folder, HASH_FILE), "".join(lines).encode())


def changed_files(folder: str | Path) -> list[str]:
    """Return the files that differ from SHA256SUMS (changed, missing or new), sorted, with `/` on every system.

    Raises PublishingError if there is no SHA256SUMS, or the folder has links, more than 1,000 files, or a file
    larger than 1 GB.
    """
    try:
        lines = Path(folder, HASH_FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise PublishingError(f"{folder} has no {HASH_FILE} that can be read: `write_hashes` writes it") from error
    entries = {(name, digest) for digest, _, name in (line.partition("  ") for line in lines)}
    return sorted({name for name, _ in entries ^ set(_file_hashes(Path(folder)))})


def _file_hashes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each file's name and SHA-256, except SHA256SUMS itself. Raises the errors of `changed_files`."""
    for index, path in enumerate(sorted(folder.rglob("*"))):
        name = path.relative_to(folder).as_posix()
        if index >= MAX_FILES:
            raise PublishingError(f"{folder} has more than {MAX_FILES:,} files; a tokenizer has a dozen")
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise PublishingError(f"{folder}: {name} is a link or not a file: put the file itself there")
        if path.is_file() and path.stat().st_size > MAX_FILE_BYTES:
            raise PublishingError(
                f"{folder}: {name} has more than {MAX_FILE_BYTES:,} bytes, more than any file of a tokenizer"
            )
        if path.is_file() and name != HASH_FILE:
            with path.open("rb") as file:
                yield name, file_digest(file, "sha256").hexdigest()
