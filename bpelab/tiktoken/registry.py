"""Encodings by name, made once. Source: tiktoken `registry.py`, whose plugins count here too."""

from threading import Lock

from ..formats.tiktoken import import_tiktoken
from ..nearest import nearest
from ..tokenizer import BPETokenizer
from .core import Encoding

_made: dict[str, Encoding] = {}
_making = Lock()


def list_encoding_names() -> list[str]:
    """The names that `get_encoding` takes. Raises MissingDependencyError without tiktoken."""
    names: list[str] = import_tiktoken().list_encoding_names()
    return names


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding of a name, the same object every time. Raises ValueError for a name that is unknown."""
    if not isinstance(encoding_name, str):
        raise ValueError(f"an encoding's name is a str, not {type(encoding_name).__name__}")
    if (made := _made.get(encoding_name)) is not None:
        return made
    names = list_encoding_names()
    if encoding_name not in names:
        meant = nearest(encoding_name, names)
        advice = f"did you mean {meant}?" if meant else f"there are {', '.join(names)}; encoding_for_model takes models"
        raise ValueError(f"Unknown encoding {encoding_name!r}: {advice}")
    with _making:
        if encoding_name not in _made:
            _made[encoding_name] = Encoding.of(encoding_name, BPETokenizer.from_tiktoken(encoding_name))
        return _made[encoding_name]


def is_registered(encoding: Encoding) -> bool:
    """Whether `encoding` is the one that `get_encoding` returns for its name."""
    return _made.get(encoding.name) is encoding
