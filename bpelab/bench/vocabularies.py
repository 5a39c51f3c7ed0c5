"""The vocabularies of a run, written to files that every library can load. Nothing is ever downloaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import BPELabError
from ..formats.tiktoken import save_ranks
from ..notebook import book_text
from ..tokenizer import BPETokenizer
from .peers.base import Vocabulary

PUBLISHED = {"cl100k_base": "cl100k", "o200k_base": "o200k", "gpt2": "gpt2"}
"""OpenAI's encodings, and the names of their patterns."""
SUPERBPE = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
"""The pattern that superwords are learned with, in github.com/PythonNut/superbpe: what it doesn't match is a piece."""
TRAINED = {"trained": "cl100k", "superwords": SUPERBPE}
"""What is trained on the book's text on the spot, and the patterns."""
SIZE = 4096


class NotHere(BPELabError):
    """An encoding whose files tiktoken has not kept on this machine."""


def prepare(name: str, folder: Path) -> Vocabulary:
    """The vocabulary called `name`, its files in a folder within `folder`. Cost: seconds.

    "trained" and "superwords", whose tokens go beyond words, are trained on the book's text on the spot. Raises NotHere
    for a published one without tiktoken or its files, BPELabError for other names.
    """
    home = folder / name
    home.mkdir(parents=True)
    if name in TRAINED:
        pattern = TRAINED[name]
        tokenizer = BPETokenizer.train(book_text(), SIZE, pattern=pattern, progress=False)
    elif name in PUBLISHED:
        pattern, tokenizer = PUBLISHED[name], _published(name)
    else:
        raise BPELabError(f"there is no encoding {name!r} to measure with; choose {', '.join([*PUBLISHED, *TRAINED])}")
    tokenizer.save(home)
    ranks = home / f"{name}.tiktoken"
    save_ranks(tokenizer, ranks)
    return Vocabulary(name, name in PUBLISHED, pattern, str(ranks), str(home), dict(tokenizer.special_tokens))


def _published(name: str) -> BPETokenizer:
    try:
        with nothing_is_fetched():
            return BPETokenizer.from_tiktoken(name)
    except BPELabError as error:
        raise NotHere(f"{name} is left out: {error}") from error
    except _Fetched as error:
        raise NotHere(
            f"{name} is left out: tiktoken has not kept its file here ({error}). Nothing is downloaded by a benchmark; "
            f"python -c \"import tiktoken; tiktoken.get_encoding('{name}')\" does it"
        ) from error


class _Fetched(OSError):
    """tiktoken asked for a file that is not in its cache."""


@contextmanager
def nothing_is_fetched() -> Iterator[None]:
    """tiktoken reads its cache, and raises where it would download."""
    try:
        from tiktoken import load
    except ImportError as error:
        raise NotHere("tiktoken is not installed") from error

    def refuse(blobpath: str) -> bytes:
        raise _Fetched(blobpath.rpartition("/")[2])

    before, load.read_file = load.read_file, refuse
    try:
        yield
    finally:
        load.read_file = before
