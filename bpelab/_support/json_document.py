"""JSON files from untrusted sources, and errors that name the position in them.

Nothing about the file is trusted. It may be huge, truncated or deeply nested; it may have duplicate keys, invalid
numbers, or halves of surrogate pairs. Each of these is a TokenizerFileError.
"""

import json
import os
import stat
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from ..errors import TokenizerFileError

LARGEST = 1 << 28
"""The size of the largest file that is read, in bytes: eight times the largest tokenizer.json in use."""
FOREIGN_FILES = {
    b"version https://git-lfs": "is a pointer of Git LFS, not the file; fetch it with `git lfs pull`",
    **{bytes([0x80, protocol]): "is a pickle, which can hold code; it is not opened" for protocol in range(2, 6)},
    b"PK\x03\x04": "is a zip archive; unpack it and open what is in it",
    b"\x1f\x8b": "is compressed with gzip; unpack it first",
    b"<!DOCTYPE html": "is a web page, perhaps one that says why the file could not be had; fetch it again",
    b"<html": "is a web page, perhaps one that says why the file could not be had; fetch it again",
}
"""First bytes of other kinds of files, whatever their names say -> the error message."""
BLOCK = 1 << 20
"""Bytes to read at once: Python allocates the memory for a read before it knows how much there is."""
T = TypeVar("T")


def open_file(path: Path) -> BinaryIO:
    """Open a regular file. Raises TokenizerFileError for anything else, such as a pipe, which may have no end."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
        if regular:
            return path.open("rb")
    except OSError as error:
        raise TokenizerFileError(path, "", f"can't be read: {error.strerror}") from error
    except ValueError as error:  # a name with a null character
        raise TokenizerFileError(path, "", f"can't be read: {error}") from error
    raise TokenizerFileError(path, "", "is not a regular file")


def read_bytes(path: Path) -> bytes:
    """Return the content of a regular file of at most LARGEST bytes. Raises TokenizerFileError, for archives too."""
    try:
        with open_file(path) as file:
            large = os.fstat(file.fileno()).st_size > LARGEST
            blocks = islice(iter(lambda: file.read(BLOCK), b""), LARGEST // BLOCK + 1)  # it may grow meanwhile
            content = b"" if large else b"".join(blocks)
    except OSError as error:
        raise TokenizerFileError(path, "", f"can't be read: {error.strerror}") from error
    if large or len(content) > LARGEST:
        raise TokenizerFileError(path, "", f"is too large: at most {LARGEST:,} bytes are read")
    refuse_foreign_file(path, content)
    return content


def refuse_foreign_file(path: Path, start: bytes) -> None:
    """Raise TokenizerFileError if a file starts like another kind of file."""
    for beginning, what in FOREIGN_FILES.items():
        if start.startswith(beginning):
            raise TokenizerFileError(path, "", what)


def short_repr(value: Any) -> str:
    """Return a JSON value as messages show it: short, however large or deeply nested it is.

    >>> short_repr(None), short_repr("a"), short_repr(True), short_repr([1, 2]), short_repr({"a": 1})
    ('nothing', "'a'", 'true', 'a list of 2', 'an object')
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return repr(value[:60]) + ("…" if len(value) > 60 else "")
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    return "an object" if isinstance(value, dict) else str(value)[:40]


class JSONFile:
    """The object in a JSON file (`data`), with `wrong` and `expect` for errors that name a position in it.

    With `lists`, a list at the top is accepted too.
    """

    def __init__(self, path: Path, content: bytes | None = None, *, lists: bool = False) -> None:
        self.path = path
        content = read_bytes(path) if content is None else content
        try:
            self.data = json.loads(
                content.decode("utf-8-sig"), object_pairs_hook=self._object, parse_constant=self._constant
            )
        except TokenizerFileError:
            raise
        except UnicodeDecodeError as error:
            raise self.wrong(f"byte {error.start}", "is not UTF-8, as JSON has to be") from error
        except RecursionError as error:
            raise self.wrong("", "is nested too deeply") from error
        except ValueError as error:
            raise self.wrong("", _not_json(content, error)) from error
        if not isinstance(self.data, (dict, list) if lists else dict):
            raise self.wrong("", "is not a JSON object or list" if lists else "is not a JSON object")
        if b"\\ud" in content or b"\\uD" in content:
            self._refuse_surrogates(self.data)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            again = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise self.wrong("", f"an object has the key {again[:60]!r} twice")
        return found

    def _constant(self, name: str) -> Any:
        raise self.wrong("", f"holds {name}, which is no JSON number")

    def _refuse_surrogates(self, data: Any) -> None:
        todo = [("", data)]
        while todo:
            where, value = todo.pop()
            if isinstance(value, dict):
                todo += [(f"{where}.{key}".lstrip("."), item) for key, item in value.items()]
                todo += [(where, key) for key in value]
            elif isinstance(value, list):
                todo += [(f"{where}[{index}]", item) for index, item in enumerate(value)]
            elif isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
                raise self.wrong(ascii(where)[1:-1], f"{value[:60]!a} holds half of a surrogate pair")

    def wrong(self, where: str, problem: str) -> TokenizerFileError:
        """Return an error about a value in this file, for the caller to raise."""
        return TokenizerFileError(self.path, where, problem)

    def expect(self, value: Any, kind: type[T], where: str) -> T:
        """Return `value` if it is a `kind` (a bool isn't an int). Raises TokenizerFileError otherwise."""
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise self.wrong(where, f"expected {_NAMES.get(kind, kind.__name__)}, found {short_repr(value)}")
        return value


def _not_json(content: bytes, error: ValueError) -> str:
    if not content.strip():
        return "is empty; the download may have been broken off"
    if not isinstance(error, json.JSONDecodeError):  # Python's limit on the digits of an integer
        return "holds an integer with thousands of digits"
    cut = error.pos >= len(error.doc.rstrip()) or "Unterminated" in error.msg
    broken_off = "; it may have been cut off, so fetch it again" if cut else ""
    what = error.msg.removesuffix(" at").removesuffix(" starting")
    return f"is not JSON: {what} in line {error.lineno}, column {error.colno}{broken_off}"


_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "a string", int: "an integer", bool: "true or false"}
