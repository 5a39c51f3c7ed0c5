"""Helpers that notebooks share: the book's frozen text, live source code, and tiktoken's vocabularies."""

import inspect
import re
import textwrap
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.install import install_command
from ..errors import MissingDependencyError
from ..formats.tiktoken_file import read_ranks
from ..tokenizer import BPETokenizer

if TYPE_CHECKING:
    import tiktoken


@lru_cache(1)
def book_text() -> str:
    """Return the book's own text, about 300 kB: prose, code, many languages. It never changes, so outputs don't either.

    >>> len(book_text()) > 250_000
    True
    """
    return (files("bpelab") / "data" / "book.txt").read_bytes().decode("utf-8")


@lru_cache(None)
def passages(kind: str) -> dict[str, str]:
    """Return parts of the book's text by name.

    `kind` is "code", "languages", "stories", "letters", "lessons", "papers" or "verses". Each part occurs in
    `book_text()` once. Raises FileNotFoundError for any other kind.

    >>> passages("languages")["german"].splitlines()[0]
    'Der Hafen am Morgen'
    """
    text = (files("bpelab") / "data" / "passages" / f"{kind}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^%% ([\w-]+)\n", text, flags=re.MULTILINE)
    return {name: passage.strip("\n") for name, passage in zip(parts[::2], parts[1::2])}


def show_source(*objects: Any) -> Any:
    """Return the current source of functions, classes or methods of this library, for a notebook to display."""
    return _markdown(
        f"`{_home(thing)}`\n\n```python\n{textwrap.dedent(inspect.getsource(thing)).rstrip()}\n```" for thing in objects
    )


def show_c(header: str, *names: str) -> Any:
    """Return the source of C functions and structures, with the comments before them, from a header of `bpelab.native`.

    Raises FileNotFoundError if the header doesn't exist, and ValueError if it has no such function or structure.
    """
    source = (files("bpelab") / "native" / header).read_text(encoding="utf-8")
    blocks, comment = [], r"^(?:/\*(?:(?!\*/).)*\*/\n)?"
    for name in names:
        function = rf"{comment}\w[^;{{}}]*\b{name}\([^;{{}}]*\) {{\n.*?^}}"
        structure = rf"{comment}typedef struct {{\n[^{{}}]*}} {name};[^\n]*"
        found = re.search(f"{function}|{structure}", source, re.MULTILINE | re.DOTALL)
        if found is None:
            raise ValueError(f"there is no function and no structure {name} in {header}")
        blocks.append(f"`bpelab/native/{header}`\n\n```c\n{found.group()}\n```")
    return _markdown(blocks)


def _markdown(blocks: Iterable[str]) -> Any:
    try:
        from IPython.display import Markdown
    except ImportError as error:
        raise MissingDependencyError(f"showing source needs IPython: {install_command('chapters')}") from error
    return Markdown("\n\n".join(blocks))  # type: ignore[no-untyped-call]


def _home(thing: Any) -> str:
    module = inspect.getmodule(thing)
    return "" if module is None else module.__name__.replace(".", "/") + ".py"


def tiktoken_encoding(name: str) -> "tiktoken.Encoding | None":
    """Return tiktoken's encoding `name`; if its vocabulary is not available, print what to do and return None.

    tiktoken keeps vocabularies in a cache folder and downloads each of them once.
    """
    try:
        import tiktoken

        return tiktoken.get_encoding(name)
    except ImportError:
        print("tiktoken is not installed here. Restart, and run this cell again, after", install_command("tiktoken"))
    except Exception as error:  # whatever its HTTP client raises without a network
        print(
            f"tiktoken could not load the vocabulary of {name} ({type(error).__name__}). It needs the network once, or "
            "a folder that holds the vocabularies, named in the environment variable TIKTOKEN_CACHE_DIR. The output "
            "above this message in the printed book came from a machine that has them."
        )
    return None


def published_ranks(name: str) -> dict[bytes, int] | None:
    """Return a published vocabulary of tiktoken, token -> id; None if it can't be had, after a message that says why.

    It is read from the file `NAME.tiktoken` beside the notebook if there is one, as in a chapter that runs in a
    browser. Otherwise tiktoken loads it.
    """
    path = Path(f"{name}.tiktoken")
    if path.exists():
        return read_ranks(path)
    return dict(BPETokenizer.from_tiktoken(name).model.ids) if tiktoken_encoding(name) else None
