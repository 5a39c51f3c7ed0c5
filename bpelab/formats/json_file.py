"""A JSON file from anywhere, and errors that name the place in it.

Nothing about the file is believed: it may be huge, cut off, nested without end, hold a key twice, numbers that are
none, or halves of surrogate pairs. All of that is a TokenizerFileError.
"""

import json
import stat
from pathlib import Path
from typing import Any, TypeVar

from ..errors import TokenizerFileError

LARGEST = 1 << 28
"""Bytes of the largest file that is read: eight times the largest tokenizer.json in use."""
T = TypeVar("T")


def read_bytes(path: Path) -> bytes:
    """The content of a regular file of at most LARGEST bytes. Raises TokenizerFileError."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode) or not stat.S_ISREG(status.st_mode):
            raise TokenizerFileError(path, "", "is not a regular file")
        if status.st_size > LARGEST:
            raise TokenizerFileError(path, "", f"has {status.st_size:,} bytes; at most {LARGEST:,} are read")
        return path.read_bytes()
    except OSError as error:
        raise TokenizerFileError(path, "", f"can't be read: {error.strerror}") from error
    except ValueError as error:  # a name with a null character
        raise TokenizerFileError(path, "", f"can't be read: {error}") from error


class JSONFile:
    """The object in a JSON file: `data`, and `wrong` and `expect` to speak about places in it."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        content = read_bytes(path) if content is None else content
        if content.startswith(b"version https://git-lfs"):
            raise self.wrong("", "is a pointer of Git LFS, not the file; fetch it with `git lfs pull`")
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
            raise self.wrong("", f"is not JSON: {error}") from error
        if not isinstance(self.data, dict):
            raise self.wrong("", "is not a JSON object")
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
                todo += [(f"{where}[{number}]", item) for number, item in enumerate(value)]
            elif isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
                raise self.wrong(ascii(where)[1:-1], f"{value[:60]!a} holds half of a surrogate pair")

    def wrong(self, where: str, problem: str) -> TokenizerFileError:
        """An error about a place in this file, to be raised."""
        return TokenizerFileError(self.path, where, problem)

    def expect(self, value: Any, kind: type[T], where: str) -> T:
        """`value` if it is a `kind`; a bool is no int. Raises TokenizerFileError."""
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            found = "nothing" if value is None else f"{str(value)[:60]!r}"
            raise self.wrong(where, f"expected {_NAMES.get(kind, kind.__name__)}, found {found}")
        return value


_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "a string", int: "an integer", bool: "true or false"}
