"""Encodings by the names of models. Source: tiktoken `model.py`, whose table is used."""

from typing import Any

from ..formats.tiktoken import import_tiktoken
from .core import Encoding
from .registry import get_encoding


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of a model's encoding. Raises KeyError for a model that tiktoken doesn't know."""
    name: str = import_tiktoken().encoding_name_for_model(model_name)
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding of a model. Raises KeyError for a model that tiktoken doesn't know."""
    return get_encoding(encoding_name_for_model(model_name))


def __getattr__(name: str) -> Any:
    if name in ("MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING"):  # tiktoken's tables
        return getattr(import_tiktoken().model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
