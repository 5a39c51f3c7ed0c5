"""What an adapter is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
"""What is asked of a library -> the method of its adapter that answers."""


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer that all libraries load, each in the form that it likes best.

    Attributes:
        name: that of the encoding, "cl100k_base" for instance, or "trained", "superwords".
        published: it is one of OpenAI's, so that libraries that bring these along can serve.
        pattern: the name of its pattern in bpelab, "cl100k", "o200k", "gpt2", or its regular expression.
        ranks: a `.tiktoken` file, its name that of the encoding.
        folder: where its tokenizer.json is.
        special: special tokens and their ids.
    """

    name: str
    published: bool
    pattern: str
    ranks: str
    folder: str
    special: dict[str, int]


class Unsupported(Exception):
    """A library that has no way to load a vocabulary; the message says why."""


class Peer:
    """An adapter: made from a Vocabulary, it has loaded it. It has those of METHODS that are in its `calls`.

    Attributes:
        name: in the table.
        package, module: what is installed, and what is imported.
        needs: further modules without which it can't run.
        calls: what is asked -> the library's own call that answers, for the reader of a record. That for "fresh" is a
            program: it defines `encode` with NAME, RANKS, FOLDER, PATTERN and SPECIAL, which are a Vocabulary's.
        lacks: what is asked -> why there is no answer.
        imports: what is imported before loading is timed; what a library imports late would else count as loading.
        part: how much of each text it is given: one over this number. For what is too slow for all of it.
    """

    name: ClassVar[str] = ""
    package: ClassVar[str] = ""
    module: ClassVar[str] = ""
    needs: ClassVar[Sequence[str]] = ("numpy",)
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
        """Load. Raises Unsupported, or whatever the library raises."""

    def decode_array(self, ids: "Ids") -> str:
        """As a list, which is quicker for most than an array whose numbers they take one by one."""
        return self.decode_list(ids.tolist())

    @staticmethod
    def train(path: str, size: int) -> set[bytes]:
        """The tokens learned from a UTF-8 file, `size` of them. Raises Unsupported."""
        raise Unsupported("does not train")

    @classmethod
    def does(cls, what: str) -> bool:
        """Whether the library can do it: `list`, `batch array` and so on, keys of METHODS."""
        return what in cls.calls


def published(vocabulary: Vocabulary, names: Sequence[str]) -> str:
    """The name of a vocabulary for a library that brings its own. Raises Unsupported for any other."""
    if not vocabulary.published or vocabulary.name not in names:
        raise Unsupported(f"has {' and '.join(names)} built in, and loads no other")
    return vocabulary.name


def documents(path: str) -> list[str]:
    """A text for training, in pieces of some 64 kB, since some libraries read a text of one piece slowly."""
    text = Path(path).read_text("utf-8")
    return [text[start : start + 65_536] for start in range(0, len(text), 65_536)]
