"""A registry of encodings by name, each created once. Source: tiktoken `registry.py`, whose plugins work here too."""

from contextlib import suppress
from threading import Lock

from ..formats.tiktoken_encoding import import_tiktoken
from ..formats.tiktoken_registry import nearest_known
from ..tokenizer import BPETokenizer
from .core import Encoding

_encodings: dict[str, Encoding] = {}
_lock = Lock()


def list_encoding_names() -> list[str]:
    """Return the names that `get_encoding` takes. Raises MissingDependencyError without tiktoken."""
    names: list[str] = import_tiktoken().list_encoding_names()
    return names


def get_encoding(encoding_name: str) -> Encoding:
    """Return the encoding with this name, the same object every time. Raises ValueError for an unknown name."""
    if not isinstance(encoding_name, str):
        raise ValueError(f"an encoding's name is a str, not {type(encoding_name).__name__}")
    if (found := _encodings.get(encoding_name)) is not None:
        return found
    names = list_encoding_names()
    if encoding_name not in names:
        raise ValueError(f"Unknown encoding {encoding_name!r}: {_advice(encoding_name, names)}")
    with _lock:
        if encoding_name not in _encodings:
            _encodings[encoding_name] = Encoding.from_tokenizer(
                encoding_name, BPETokenizer.from_tiktoken(encoding_name)
            )
        return _encodings[encoding_name]


def _advice(name: str, names: list[str]) -> str:
    """Return advice on what to call instead of `get_encoding` with an unknown name."""
    suggestion, model = nearest_known(name), name.lower()
    if model not in names:
        with suppress(KeyError):
            found = import_tiktoken().encoding_name_for_model(model)
            return f'it is a model, whose encoding is {found}: call encoding_for_model("{model}")'
    if suggestion is not None:
        meant = suggestion if suggestion in names else f'encoding_for_model("{suggestion}")'
        return f"did you mean {meant}?"
    return f"there are {', '.join(names)}; encoding_for_model takes models"


def is_registered(encoding: Encoding) -> bool:
    """Return whether `encoding` is the one that `get_encoding` returns for its name."""
    return _encodings.get(encoding.name) is encoding
