"""What the book's notebooks share: the frozen text, live source, and vocabularies that may not be at hand."""

import inspect
import re
import textwrap
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import MissingDependencyError
from .install import install_command

if TYPE_CHECKING:
    import tiktoken


@lru_cache(1)
def book_text() -> str:
    """The book's own text, about 300 kB: prose, code, many languages. It never changes, so outputs don't either.

    >>> len(book_text()) > 250_000
    True
    """
    return (files("bpelab") / "data" / "book.txt").read_bytes().decode("utf-8")


@lru_cache(None)
def passages(kind: str) -> dict[str, str]:
    """Parts of the book's text by name: its "code", "languages", "stories", "letters", "lessons", "papers" or "verses".

    Each stands in `book_text()` once. Raises FileNotFoundError for a kind that there is not.

    >>> passages("languages")["german"].splitlines()[0]
    'Der Hafen am Morgen'
    """
    text = (files("bpelab") / "data" / "passages" / f"{kind}.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^%% ([\w-]+)\n", text, flags=re.MULTILINE)
    return {name: passage.strip("\n") for name, passage in zip(parts[::2], parts[1::2])}


def show_source(*objects: Any) -> Any:
    """The source of functions, classes or methods of this library, as it is now, for a notebook to display."""
    return _markdown(
        f"`{_home(thing)}`\n\n```python\n{textwrap.dedent(inspect.getsource(thing)).rstrip()}\n```" for thing in objects
    )


def show_c(header: str, *functions: str) -> Any:
    """The source of functions in C, with the comments before them, of a header of `bpelab.native`.

    Raises FileNotFoundError for a header, and ValueError for a function, that there is not.
    """
    source = (files("bpelab") / "native" / header).read_text(encoding="utf-8")
    blocks = []
    for name in functions:
        found = re.search(
            rf"^(/\*(?:(?!\*/).)*\*/\n)?\w[^;{{}}]*\b{name}\([^;{{}}]*\) {{\n.*?^}}", source, re.MULTILINE | re.DOTALL
        )
        if found is None:
            raise ValueError(f"there is no function {name} in {header}")
        blocks.append(f"`bpelab/native/{header}`\n\n```c\n{found.group()}\n```")
    return _markdown(blocks)


def _markdown(blocks: Iterable[str]) -> Any:
    try:
        from IPython.display import Markdown
    except ImportError as error:
        raise MissingDependencyError(f"showing source needs IPython: {install_command('chapters')}") from error
    return Markdown("\n\n".join(blocks))  # type: ignore[no-untyped-call]


C_FOLDER = Path(__file__).parent / "native"
"""The sources of the encoder in C."""


def show_c(*names: str) -> Any:
    """Show the source of C functions or types of `bpelab/native`, as it is now, with the comments above them.

    Raises LookupError for a name that is defined nowhere there, MissingDependencyError without IPython.
    """
    try:
        from IPython.display import Markdown
    except ImportError as error:
        raise MissingDependencyError(f"showing source needs IPython: {install_command('chapters')}") from error
    blocks = [f"`bpelab/native/{path}`\n\n```c\n{source}\n```" for path, source in map(c_source, names)]
    return Markdown("\n\n".join(blocks))  # type: ignore[no-untyped-call]


def c_source(name: str) -> tuple[str, str]:
    """Return the file of `bpelab/native` in which a C function or type is defined, and its source.

    >>> file, source = c_source("find_pair")
    >>> file, source.splitlines()[1].startswith("INLINE uint32_t find_pair(")
    ('vocabulary.h', True)

    Raises LookupError for a name that is defined nowhere there.
    """
    begins = re.compile(rf"(?:INLINE|NOINLINE|static)\b[^=({{]*\b{name}\(")
    for path in sorted(C_FOLDER.glob("*.[ch]")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            first = last = number
            if line.startswith(f"}} {name};"):
                first = max(at for at in range(number) if lines[at].startswith("typedef"))
            elif begins.match(line) and not line.endswith(";"):
                last = number if "}" in line else lines.index("}", number)
            else:
                continue
            if re.match(r"/\*|   \S.*\*/$", lines[first - 1]):
                first = max(at for at in range(first) if lines[at].startswith("/*"))
            return path.name, "\n".join(lines[first : last + 1])
    raise LookupError(f"no function and no type in bpelab/native is called {name}")


def _home(thing: Any) -> str:
    module = inspect.getmodule(thing)
    return "" if module is None else module.__name__.replace(".", "/") + ".py"


def tiktoken_encoding(name: str) -> "tiktoken.Encoding | None":
    """tiktoken's encoding called `name`, or None, having said what to do, where its vocabulary can't be had.

    tiktoken keeps vocabularies in a folder of its own and fetches them once over the network.
    """
    try:
        import tiktoken

        return tiktoken.get_encoding(name)
    except ImportError:
        print("tiktoken is not installed here. Restart, and run this cell again, after", install_command("tiktoken"))
    except Exception as error:  # whatever its HTTP client raises where there is no network
        print(
            f"tiktoken could not load the vocabulary of {name} ({type(error).__name__}). It needs the network once, or "
            "a folder that holds the vocabularies, named in the environment variable TIKTOKEN_CACHE_DIR. The output "
            "above this message in the printed book came from a machine that has them."
        )
    return None
