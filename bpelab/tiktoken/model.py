"""Look up encodings by model name. Source: tiktoken `model.py`, whose table is used."""

from typing import Any

from .._support.nearest_name import nearest
from ..formats.tiktoken_encoding import import_tiktoken
from .core import Encoding
from .registry import get_encoding


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of a model's encoding. Raises KeyError for a model that tiktoken doesn't know."""
    tiktoken = import_tiktoken()
    try:
        name: str = tiktoken.encoding_name_for_model(model_name)
    except KeyError:
        if model_name in tiktoken.list_encoding_names():
            advice = f'it is an encoding: call get_encoding("{model_name}")'
        else:
            suggestion = nearest(model_name, tiktoken.model.MODEL_TO_ENCODING)
            advice = f"did you mean {suggestion}?" if suggestion else "get_encoding takes the name of its encoding"
        raise KeyError(f"tiktoken knows no model {model_name!r}: {advice}") from None
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding of a model. Raises KeyError for a model that tiktoken doesn't know."""
    return get_encoding(encoding_name_for_model(model_name))


def __getattr__(name: str) -> Any:
    if name in ("MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING"):  # tiktoken's tables
        return getattr(import_tiktoken().model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
