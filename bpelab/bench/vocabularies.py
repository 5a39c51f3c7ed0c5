"""The vocabularies of a run, written to files that every library can load. Nothing is ever downloaded."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from .._support.textio import expand_user
from ..errors import BPELabError, ConversionError
from ..formats.tiktoken_file import save_ranks
from ..notebook.live_source import book_text
from ..regex.patterns import PATTERNS, covering_pattern, find_pattern
from ..tokenizer import BPETokenizer, open_tokenizer

PUBLISHED = {"cl100k_base": "cl100k", "o200k_base": "o200k", "gpt2": "gpt2"}
"""OpenAI's encodings, and the names of their patterns."""
TRAINED = {"trained": "cl100k", "superwords": PATTERNS["superbpe"].regex}
"""Vocabularies trained on the book's text during the run, and their patterns."""
SHIPPED = ("cl100k_base", "o200k_base")
"""The encodings that most libraries ship."""
SIZE = 4096


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer that all libraries load, each from the file format that suits it best.

    Attributes:
        name: the encoding's name, such as "cl100k_base", or "trained", "superwords".
        pattern: the name of its pattern in bpelab, "cl100k", "o200k", "gpt2", or its regular expression.
        ranks: the path of a `.tiktoken` file named after the encoding; "" if such a file can't hold the tokenizer.
        folder: the folder of its tokenizer.json, and of plain.json, for libraries that only read published files.
        special: special tokens and their ids.
    """

    name: str
    pattern: str
    ranks: str
    folder: str
    special: dict[str, int]

    @property
    def published(self) -> bool:
        """Whether it is one of OpenAI's encodings."""
        return self.name in PUBLISHED

    @property
    def kinds(self) -> list[str]:
        """What it is, for `Library.load`, from the special to the general.

        "shipped" and "published" are encodings of OpenAI; then comes the name of its pattern, and "pattern" for any
        that has one; "ranks" has a `.tiktoken` file, and "file" has none; "any" is all.
        """
        kinds = ["shipped"] if self.name in SHIPPED else []
        kinds += ["published"] if self.published else []
        kinds += [self.pattern, "pattern"] if self.ranks and self.pattern in PATTERNS else []
        return [*kinds, "ranks" if self.ranks else "file", "any"]

    def names(self) -> dict[str, Any]:
        """Return what a library's code knows it by; REGEX is its pattern without possessive quantifiers."""
        regex = PATTERNS[self.pattern].oniguruma if self.pattern in PATTERNS else self.pattern
        return {
            "NAME": self.name,
            "RANKS": self.ranks,
            "FOLDER": self.folder,
            "PATTERN": self.pattern,
            "REGEX": regex,
            "SPECIAL": self.special,
        }

    @property
    def baseline(self) -> str:
        """The library whose ids are the reference and whose speed is the unit of ratios."""
        return "tiktoken" if self.ranks else "tokenizers"


class Unavailable(BPELabError):
    """Raised for an encoding whose files are not in tiktoken's cache on this machine."""


def prepare(name: str, folder: Path) -> Vocabulary:
    """Write the files of the vocabulary `name` into a folder within `folder`, and return it. Cost: seconds.

    "trained" and "superwords", whose tokens may cross word boundaries, are trained on the book's text. A name may also
    be the path of a tokenizer; a tokenizer.json is copied unchanged. Raises Unavailable for a published encoding
    without tiktoken or its files, BPELabError for unknown or duplicate names, and for files that can't be read.
    """
    own_file = None
    if name in TRAINED:
        pattern = TRAINED[name]
        superwords = "superbpe" if name == "superwords" else None
        tokenizer = BPETokenizer.train(book_text(), SIZE, superwords=superwords, progress=False)
    elif name in PUBLISHED:
        pattern, tokenizer = PUBLISHED[name], _published(name)
    elif (path := expand_user(name)).exists():
        tokenizer = open_tokenizer(path)
        pattern = _pattern(tokenizer)
        own_file = path / "tokenizer.json" if path.is_dir() else path
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
    if own_file is not None and own_file.suffix == ".json" and own_file.exists():
        for copy in ("tokenizer.json", "plain.json"):
            shutil.copyfile(own_file, home / copy)
    else:
        tokenizer.save(home)
        _write_plain(home, pattern)
    ranks, special = _write_ranks(tokenizer, home), dict(tokenizer.special_tokens)
    return Vocabulary(name, pattern, ranks, str(home), special)


def _write_ranks(tokenizer: BPETokenizer, home: Path) -> str:
    """Write a .tiktoken file and return its path; "" if tiktoken would give different ids with it."""
    ranks = home / f"{home.name}.tiktoken"
    try:
        save_ranks(tokenizer.spec, ranks)
    except ConversionError:
        return ""
    return str(ranks)


def _write_plain(home: Path, pattern: str) -> None:
    """Write plain.json: a tokenizer.json for libraries that only read published files.

    It spells cl100k's pattern as Llama 3's file does, which splits the same way every text that doesn't end in white
    space. It leaves out special tokens after a gap in the ids, since no text to measure with contains one.
    """
    spec = json.loads((home / "tokenizer.json").read_text("utf-8"))
    if pattern == "cl100k":
        (split,) = (stage for stage in spec["pre_tokenizer"]["pretokenizers"] if stage["type"] == "Split")
        split["pattern"] = {"Regex": PATTERNS["llama3"].regex}
    vocab, added = spec["model"]["vocab"], spec["added_tokens"]
    ids = {*vocab.values(), *(token["id"] for token in added)}
    gap = next(number for number in count() if number not in ids)
    spec["model"]["vocab"] = {token: number for token, number in vocab.items() if number < gap}
    spec["added_tokens"] = [token for token in added if token["id"] < gap]
    (home / "plain.json").write_text(json.dumps(spec, ensure_ascii=False), "utf-8")


def _pattern(tokenizer: BPETokenizer) -> str:
    """Return the name of the pattern of a file's tokenizer, if it splits words; else its regular expression."""
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
    """Make tiktoken read only its cache, and raise an error instead of downloading."""
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
