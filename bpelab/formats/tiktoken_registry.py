"""tiktoken's encodings by name, `cl100k_base` or a model's `gpt-4o`, through the disk cache.

tiktoken's own encodings are those that `tiktoken_ext.openai_public` defines. Their models are cached, so that a name
opens without importing tiktoken. The encodings of tiktoken's plugins are not cached.

Chapter: Matching GPT-2 and GPT-4. Source: tiktoken `registry.py`, `model.py`.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

from ..core.spec import TokenizerSpec
from ..model import disk_cache
from ..model.bpe import BPEModel
from .tiktoken_encoding import from_encoding, import_tiktoken, spec_of_ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tiktoken_encoding import Encoding


def from_tiktoken(name_or_encoding: str | Encoding) -> TokenizerSpec:
    """Return the tokenizer of an Encoding: tiktoken's or `bpelab.tiktoken`'s object, its name, or a model's name.

    Raises MissingDependencyError without tiktoken, ValueError for a name that tiktoken doesn't know.
    """
    if not isinstance(name_or_encoding, str):
        return from_encoding(name_or_encoding)
    if (spec := _from_cache(name_or_encoding)) is not None:
        return spec
    name = encoding_name(name_or_encoding)
    if name != name_or_encoding and (spec := _from_cache(name)) is not None:
        return spec
    return _build(name)


def encoding_name(name: str) -> str:
    """Return the name of an encoding, given that name or the name of a model that uses it.

    Raises ValueError for a name that tiktoken doesn't know.

    >>> encoding_name("gpt-4o"), encoding_name("cl100k_base")
    ('o200k_base', 'cl100k_base')
    """
    tiktoken = import_tiktoken()
    encodings = tiktoken.list_encoding_names()
    if name in encodings:
        return name
    try:
        encoding: str = tiktoken.encoding_name_for_model(name)
        return encoding
    except KeyError:
        suggestion = nearest_known(name)
        advice = f"did you mean {suggestion}?" if suggestion else f"its encodings are {', '.join(encodings)}"
        raise ValueError(f"tiktoken has no encoding or model named {name!r}: {advice}") from None


def nearest_known(name: str) -> str | None:
    """Return the encoding or the model that tiktoken knows and whose name is the most similar; None if none is.

    >>> nearest_known("cl100k"), nearest_known("gpt4o"), nearest_known("my-model")
    ('cl100k_base', 'gpt-4o', None)
    """
    from .._support.nearest_name import nearest

    tiktoken = import_tiktoken()
    return nearest(name, [*tiktoken.list_encoding_names(), *tiktoken.model.MODEL_TO_ENCODING])


def _from_cache(name: str) -> TokenizerSpec | None:
    """Return one of tiktoken's own encodings from the disk cache, or None."""
    key = _cache_key(name)
    if key is None or (entry := disk_cache.fetch(key)) is None:
        return None
    model, extra = entry
    pattern, *special = extra.decode().split("\0")
    return spec_of_ranks(model, pattern, dict(zip(special[::2], map(int, special[1::2]))))


def _build(name: str) -> TokenizerSpec:
    """Return an encoding by its name, and store it in the disk cache if it is one of tiktoken's own."""
    tiktoken = import_tiktoken()
    from tiktoken_ext import openai_public

    if name not in openai_public.ENCODING_CONSTRUCTORS:
        return from_encoding(tiktoken.get_encoding(name))
    parts = openai_public.ENCODING_CONSTRUCTORS[name]()  # the parts of an Encoding; creating one would take longer
    model = BPEModel.from_ranks(parts["mergeable_ranks"])
    if (key := _cache_key(name)) is not None:
        special = [str(part) for token in parts["special_tokens"].items() for part in token]
        disk_cache.store(key, model, "\0".join([parts["pat_str"], *special]).encode())
    return spec_of_ranks(model, parts["pat_str"], parts["special_tokens"])


def _cache_key(name: str) -> str | None:
    """Return the disk cache key of one of tiktoken's own encodings, or None if tiktoken isn't installed.

    It depends on tiktoken's file that defines the encodings. The file is read, not imported, which would take 60 ms.
    """
    if sys.modules.get("tiktoken_ext", True) is None:  # None means that importing it is blocked
        return None
    extensions = PathFinder.find_spec("tiktoken_ext")  # importlib.util's find_spec takes 3 ms to import
    folders = None if extensions is None else extensions.submodule_search_locations
    definitions = None if folders is None else PathFinder.find_spec("tiktoken_ext.openai_public", folders)
    if definitions is None or definitions.origin is None:
        return None
    with open(definitions.origin, "rb") as source:
        return disk_cache.fingerprint(b"tiktoken", source.read(), name.encode())
