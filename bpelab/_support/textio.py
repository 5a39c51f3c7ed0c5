"""Text input and output: lone surrogates, UTF-8 in blocks, and files written atomically."""

from __future__ import annotations

import codecs
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from ..errors import BPELabError

STANDARD_INPUT = "-"
"""The name of standard input on a command line."""
BLOCK = 1 << 20
"""Bytes to read at once, or characters to encode at once when only counting their bytes."""

MAX_NAME = 4_096
"""The length of the longest text that may be a file's name, in characters."""
TEMPORARY_DIGITS = 8
"""Hexadecimal digits in the name of a temporary file."""
STALE = 3_600
"""Age in seconds from which a temporary file counts as abandoned."""


def valid_text(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD, as tiktoken does.

    >>> valid_text("a\\ud83d\\ude00b\\ud800")
    'a😀b\ufffd'

    Raises TypeError for anything but a str.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def utf8(text: str) -> bytes:
    """Return the UTF-8 bytes of `text`, lone surrogates replaced by U+FFFD."""
    return valid_text(text).encode()


def from_utf8(data: bytes) -> str | None:
    """Decode UTF-8; return None if the bytes aren't valid."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def utf8_size(text: str) -> int:
    """Return the size of `text` in UTF-8 bytes, lone surrogates included. Memory: a block, however long the text."""
    if text.isascii():
        return len(text)
    return sum(len(text[at : at + BLOCK].encode("utf-8", "surrogatepass")) for at in range(0, len(text), BLOCK))


def utf8_counts(counts: Mapping[str, int]) -> Counter[bytes]:
    """Convert counts of texts to counts of their UTF-8 bytes. Texts that differ only in lone surrogates become one."""
    from collections import Counter

    found: Counter[bytes] = Counter()
    for text, number in counts.items():
        found[utf8(text)] += number
    return found


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that readers see its old or its new content, never part of one; see `write_all_atomically`."""
    write_all_atomically({path: content})


def write_all_atomically(contents: Mapping[Path, bytes]) -> None:
    """Write files so that readers see each file's old content or its new content, never part of one.

    All contents go to temporary files beside their targets and are flushed to disk before the first is renamed: if
    there isn't room for all of them, none is changed. Existing files keep their permissions. Raises OSError
    naming the file; then the old ones are as they were.
    """
    written: dict[Path, Path] = {}
    path: Path | None = None
    try:
        for path, content in contents.items():
            written[path] = temporary_name(path)
            _write(written[path], path, content)
        for path, temporary in written.items():
            os.replace(temporary, path)
    except OSError as error:  # it names the temporary file, or no file
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        for temporary in written.values():
            try:
                temporary.unlink()
            except OSError:  # it was renamed, or never created
                continue
    for path in contents:
        remove_stale(path)


def remove_stale(path: Path) -> None:
    """Delete temporary files left behind by processes that were killed while writing `path`, which has to exist.

    Only files last written more than an hour before `path` are deleted, since another process may be writing a younger
    one. Both times are the file system's.
    """
    try:
        latest = path.stat().st_mtime - STALE
        for name in os.listdir(path.parent):
            hidden, number = name[: -TEMPORARY_DIGITS - 1], name[-TEMPORARY_DIGITS:]
            if hidden == f".{path.name}" and not number.strip("0123456789abcdef"):
                temporary = path.with_name(name)
                if temporary.stat().st_mtime < latest:
                    temporary.unlink()
    except OSError:  # another process was faster, or deleting isn't allowed here
        return


def temporary_name(path: Path) -> Path:
    """Return a unique hidden name beside `path`, for a file to be renamed to it."""
    return path.with_name(f".{path.name}.{os.urandom(TEMPORARY_DIGITS // 2).hex()}")


def _write(temporary: Path, path: Path, content: bytes) -> None:
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "wb") as file:
        try:  # noqa: SIM105 - contextlib, and what it imports, takes long
            os.chmod(temporary, path.stat().st_mode & 0o777)
        except OSError:  # there's no old file, or the system has no permissions
            pass
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def expand_user(path: str | Path) -> Path:
    """Return a path with `~` expanded to the home folder; unchanged if there is no such user."""
    from pathlib import Path

    try:
        return Path(path).expanduser()
    except RuntimeError:  # no such user
        return Path(path)


def names_file(text: str) -> bool:
    """Return whether a text is the name of an existing file, so that its content was probably meant.

    >>> names_file("two words"), names_file(__file__)
    (False, True)
    """
    try:
        return len(text) <= MAX_NAME and os.path.isfile(os.path.expanduser(text))
    except ValueError:  # NUL, or a lone surrogate, in what looks like somebody's home
        return False


def read_text(name: str | Path = STANDARD_INPUT) -> str:
    """Return the UTF-8 text of a file or of standard input. Raises BPELabError naming the file if it can't be read."""
    return "".join(text_blocks(name))


def text_blocks(name: str | Path = STANDARD_INPUT) -> Iterator[str]:
    """Yield the text of `read_text` in blocks. Memory: a block. Raises BPELabError as `read_text` does."""
    from ..errors import BPELabError

    what = "standard input" if str(name) == STANDARD_INPUT else str(name)

    def refusal(at: int, reason: str) -> BPELabError:
        return BPELabError(f"{what} is not UTF-8: {reason} at byte {at:,}")

    return decode_blocks(_byte_blocks(name, what), refusal)


def _byte_blocks(name: str | Path, what: str) -> Iterator[bytes]:
    import sys

    from ..errors import BPELabError

    try:
        if str(name) == STANDARD_INPUT:
            yield from iter(lambda: sys.stdin.buffer.read(BLOCK), b"")
            return
        with open(name, "rb") as file:
            yield from iter(lambda: file.read(BLOCK), b"")
    except FileNotFoundError as error:
        raise BPELabError(f"{what}: there is no such file") from error
    except IsADirectoryError as error:
        raise BPELabError(f"{what} is a folder; name the texts in it one by one") from error
    except OSError as error:
        raise BPELabError(f"{what} can't be read: {error.strerror or error}") from error


def decode_blocks(
    blocks: Iterable[bytes], refusal: Callable[[int, str], BPELabError], errors: str = "strict", begin: int = 0
) -> Iterator[str]:
    """Decode blocks of UTF-8, the first of which starts at byte `begin`; a character may span two blocks.

    Raises the error that `refusal(offset, reason)` returns if the bytes aren't UTF-8.
    """
    decoder, end = codecs.getincrementaldecoder("utf-8")(errors), begin
    try:
        for block in blocks:
            end += len(block)
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        # error.object starts with the bytes of an incomplete character from the block before.
        raise refusal(end - len(error.object) + error.start, error.reason) from error
