"""Text in and out: lone surrogates, and files that are written whole or not at all."""

import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path


def valid_text(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced by U+FFFD, as tiktoken does.

    >>> valid_text("a\\ud83d\\ude00b\\ud800")
    'a😀b\ufffd'

    Raises TypeError for what is not a str.
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
    """The UTF-8 bytes of `text`, lone surrogates replaced by U+FFFD."""
    return valid_text(text).encode()


def utf8_counts(counts: Mapping[str, int]) -> Counter[bytes]:
    """Counts of texts as counts of their UTF-8 bytes: texts that differ in lone surrogates only become one."""
    found: Counter[bytes] = Counter()
    for text, number in counts.items():
        found[utf8(text)] += number
    return found


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old content or the new one, and never a part.

    The content goes to a temporary file in the same folder, is flushed to disk, and is renamed. Raises OSError; then
    the old file is as it was.
    """
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
