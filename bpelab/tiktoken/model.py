"""Encodings by the names of models. Source: tiktoken `model.py`, whose table this is."""

from ..errors import MissingDependencyError
from ..install import install_command
from .core import Encoding
from .registry import get_encoding


def encoding_name_for_model(model_name: str) -> str:
    """The name of a model's encoding. Raises KeyError for a model that tiktoken doesn't know."""
    try:
        from tiktoken.model import encoding_name_for_model as name_for
    except ImportError as error:
        raise MissingDependencyError(f"tiktoken is not installed: {install_command('tiktoken')}") from error
    return name_for(model_name)


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding of a model. Raises KeyError for a model that tiktoken doesn't know."""
    return get_encoding(encoding_name_for_model(model_name))
