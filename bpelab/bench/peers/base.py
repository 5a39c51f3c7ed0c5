"""The interface of adapters: one class for each library, with the same methods."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.uint32]
    Batch = tuple[Ids, NDArray[np.signedinteger[Any]]]

METHODS = {
    "list": "encode_list",
    "array": "encode_array",
    "batch list": "batch_list",
    "batch array": "batch_array",
    "decode list": "decode_list",
    "decode array": "decode_array",
    "train": "train",
}
"""Capability -> the adapter's method that provides it."""


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer that all libraries load, each from the file format that suits it best.

    Attributes:
        name: the encoding's name, such as "cl100k_base", or "trained", "superwords".
        published: whether it is one of OpenAI's encodings, which some libraries ship.
        pattern: the name of its pattern in bpelab, "cl100k", "o200k", "gpt2", or its regular expression.
        ranks: the path of a `.tiktoken` file named after the encoding; "" if such a file can't hold the tokenizer.
        folder: the folder of its tokenizer.json, and of plain.json, for libraries that only read published files.
        special: special tokens and their ids.
    """

    name: str
    published: bool
    pattern: str
    ranks: str
    folder: str
    special: dict[str, int]

    @property
    def baseline(self) -> str:
        """The library whose ids are the reference and whose speed is the unit of ratios."""
        return "tiktoken" if self.ranks else "tokenizers"


class Unsupported(Exception):
    """Raised if a library can't load a vocabulary; the message says why."""


class Peer:
    """An adapter of a library, which loads a Vocabulary. It has the METHODS of the capabilities in its `calls`.

    Attributes:
        name: its name in the table.
        package, module: the names to install and to import.
        requires: other modules that it needs.
        calls: capability -> the library's own call, for readers of a record. For "fresh" it is a program that
            defines `encode`, using NAME, RANKS, FOLDER, PATTERN and SPECIAL, the Vocabulary's attributes.
        lacks: capability -> why the library doesn't have it.
        imports: modules to import before loading is timed; otherwise late imports would count as loading.
        part: the library encodes 1 / `part` of each text; more than 1 if it is too slow for all of it.
    """

    name: ClassVar[str] = ""
    package: ClassVar[str] = ""
    module: ClassVar[str] = ""
    requires: ClassVar[Sequence[str]] = ("numpy",)
    calls: ClassVar[dict[str, str]] = {}
    lacks: ClassVar[dict[str, str]] = {}
    imports: ClassVar[Sequence[str]] = ()
    part: ClassVar[int] = 1

    encode_list: Callable[[str], list[int]]
    encode_array: "Callable[[str], Ids]"
    batch_list: Callable[[Sequence[str], int], list[list[int]]]
    batch_array: "Callable[[Sequence[str], int], Batch]"
    decode_list: Callable[[list[int]], str]

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Load a vocabulary. Raises Unsupported, or whatever the library raises."""

    def decode_array(self, ids: "Ids") -> str:
        """Convert an array of ids to a list, which most libraries read faster, and decode it."""
        return self.decode_list(ids.tolist())

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        """Learn `size` tokens from a UTF-8 file and return them. Raises Unsupported."""
        raise Unsupported("does not train")

    @staticmethod
    def train_superwords(path: str, size: int) -> set[bytes]:
        """Learn `size` tokens, with superwords from `transition_point(size)` on. Raises Unsupported."""
        raise Unsupported("learns no superwords")

    @classmethod
    def why_unavailable(cls) -> str | None:
        """Return the reason that the library can't be measured here, or None if it can. Imports nothing."""
        for module in (cls.module, *cls.requires):
            if find_spec(module) is None:
                return f"not installed: pip install {cls.package}" if module == cls.module else f"{module} is missing"
        return None

    @classmethod
    def version(cls) -> str | None:
        """Return the version of the library's package, or None if it isn't installed."""
        try:
            return metadata.version(cls.package)
        except metadata.PackageNotFoundError:
            return None

    @classmethod
    def import_all(cls) -> None:
        """Import the library, NumPy, and any modules that the library would import later."""
        for module in (*cls.requires, cls.module, *cls.imports):
            import_module(module)

    @classmethod
    def supports(cls, what: str) -> bool:
        """Return whether the library has a capability, a key of METHODS such as `list` or `batch array`."""
        return what in cls.calls


def published_name(vocabulary: Vocabulary, names: Sequence[str]) -> str:
    """Return the vocabulary's name if the library ships it. Raises Unsupported otherwise."""
    if not vocabulary.published or vocabulary.name not in names:
        raise Unsupported(f"has {' and '.join(names)} built in, and loads no other")
    return vocabulary.name


def open_plain(tokenizer: Any, vocabulary: Vocabulary) -> Any:
    """Open plain.json with a library's class. Raises Unsupported with the library's message if it refuses the file."""
    try:
        return tokenizer.from_file(str(Path(vocabulary.folder, "plain.json")))
    except ValueError as error:
        raise Unsupported(f"refuses the file: {error}"[:120]) from error


def transition_point(size: int) -> int:
    """Return the number of tokens after which superwords are learned: 100,000 of 128,000, and in proportion.

    >>> transition_point(128_000)
    100000
    """
    return size * 25 // 32


def read_chunks(path: str) -> list[str]:
    """Read a training text in chunks of 65,536 characters, since some libraries are slow on one long string."""
    text = Path(path).read_text("utf-8")
    return [text[start : start + 65_536] for start in range(0, len(text), 65_536)]
