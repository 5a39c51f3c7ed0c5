"""The vocabularies of a run, written to files that every library can load. Nothing is ever downloaded."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._support.textio import expand_user
from ..errors import BPELabError
from ..formats.tiktoken import save_ranks
from ..notebook.live_source import book_text
from ..regex.patterns import PATTERNS, covering_pattern, find_pattern
from ..tokenizer import BPETokenizer, open_tokenizer
from .peers.base import Vocabulary

PUBLISHED = {"cl100k_base": "cl100k", "o200k_base": "o200k", "gpt2": "gpt2"}
"""OpenAI's encodings, and the names of their patterns."""
TRAINED = {"trained": "cl100k", "superwords": PATTERNS["superbpe"].regex}
"""Vocabularies trained on the book's text during the run, and their patterns."""
SIZE = 4096


class Unavailable(BPELabError):
    """An encoding whose files are not in tiktoken's cache on this machine."""


def prepare(name: str, folder: Path) -> Vocabulary:
    """Write the files of the vocabulary `name` into a folder within `folder`, and return it. Cost: seconds.

    "trained" and "superwords", whose tokens go over the ends of words, are trained on the book's text. A name may also
    be the path of a tokenizer that a .tiktoken file can hold. Raises Unavailable for a published one without tiktoken
    or its files, BPELabError for unknown names, two tokenizers of one name, and files that can't be read or written.
    """
    if name in TRAINED:
        pattern = TRAINED[name]
        superwords = "superbpe" if name == "superwords" else None
        tokenizer = BPETokenizer.train(book_text(), SIZE, superwords=superwords, progress=False)
    elif name in PUBLISHED:
        pattern, tokenizer = PUBLISHED[name], _published(name)
    elif (path := expand_user(name)).exists():
        tokenizer = open_tokenizer(path)
        pattern = _pattern(tokenizer)
        name = path.resolve().parent.name if path.name == "tokenizer.json" else path.resolve().stem
    else:
        known = ", ".join([*PUBLISHED, *TRAINED])
        raise BPELabError(
            f"there is no encoding {name!r} to measure with, and no such file; choose {known} or a tokenizer"
        )
    home = folder / name
    if home.exists():
        raise BPELabError(f"two of the encodings to measure with are called {name!r}: rename one")
    home.mkdir(parents=True)
    tokenizer.save(home)
    ranks = home / f"{name}.tiktoken"
    save_ranks(tokenizer.spec, ranks)
    return Vocabulary(name, name in PUBLISHED, pattern, str(ranks), str(home), dict(tokenizer.special_tokens))


def _pattern(tokenizer: BPETokenizer) -> str:
    """Return the name of the pattern of a file's tokenizer, if it cuts words; else its regular expression."""
    pattern = tokenizer.pattern or covering_pattern(None)
    named = find_pattern(pattern)
    return pattern if named is None else named.name if named.cuts_words else named.regex


def _published(name: str) -> BPETokenizer:
    try:
        with no_download():
            return BPETokenizer.from_tiktoken(name)
    except BPELabError as error:
        raise Unavailable(f"{name} is left out: {error}") from error
    except _DownloadRefused as error:
        raise Unavailable(
            f"{name} is left out: its file is not in tiktoken's cache ({error}). Nothing is downloaded by a benchmark; "
            f"python -c \"import tiktoken; tiktoken.get_encoding('{name}')\" does it"
        ) from error


class _DownloadRefused(OSError):
    """Raised when tiktoken asks for a file that is not in its cache."""


@contextmanager
def no_download() -> Iterator[None]:
    """Make tiktoken read its cache only, and raise where it would download."""
    try:
        from tiktoken import load
    except ImportError as error:
        raise Unavailable("tiktoken is not installed") from error

    def refuse(blobpath: str) -> bytes:
        raise _DownloadRefused(blobpath.rpartition("/")[2])

    before, load.read_file = load.read_file, refuse
    try:
        yield
    finally:
        load.read_file = before
