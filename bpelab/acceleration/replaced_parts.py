"""Notice where transformers has replaced a part of a tokenizer, so that its ids differ from those of its own file.

transformers builds some tokenizers from their class, whatever the file says: DeepSeek V3's configuration names
LlamaTokenizerFast, so transformers 5.5 gives it the pre-tokenizer of Llama 2.

Cost: reading the file once more, and encoding a sample if a part of it isn't the tokenizer's.
"""

import warnings
from pathlib import Path
from typing import Any

from ..errors import BPELabError
from ..formats.huggingface import from_buffer
from ..formats.model_json import open_json
from ..tokenizer import BPETokenizer
from .checking import SAMPLE
from .engine import Engine
from .reading import FILE_NAME

PARTS = ("normalizer", "pre_tokenizer")


def warn_if_replaced(tokenizer: Any, engine: Engine) -> None:
    """Warn with a RuntimeWarning if a tokenizer's ids differ from those of the tokenizer.json it was loaded from.

    There is no warning if that file can't be found or read.
    """
    path = _file_of(tokenizer)
    if path is None:
        return
    try:
        content = path.read_bytes()
        in_file, parts = open_json(path, content)[0].data, engine.content.parts
        replaced = [part for part in PARTS if in_file.get(part) != parts.get(part)]
        if not replaced:
            return
        spec = from_buffer(path, content, {})
    except (OSError, BPELabError):
        return
    of_file = BPETokenizer.from_spec(spec).encode(SAMPLE, allowed_special="all", add_special_tokens=False)
    if of_file != engine.lists([SAMPLE])[0]:
        names = " and the ".join(part.replace("_", "-") for part in replaced)
        warnings.warn(
            f"transformers has replaced the {names} of {path}, so its ids differ from that file's. bpelab "
            "returns what this tokenizer returned; PreTrainedTokenizerFast.from_pretrained reads the file as it is",
            RuntimeWarning,
            stacklevel=3,
        )


def _file_of(tokenizer: Any) -> Path | None:
    """Return the path of the tokenizer.json that a tokenizer was loaded from; None if it isn't on disk."""
    name = str(tokenizer.name_or_path or "")
    if not name:
        return None
    if (path := Path(name) / FILE_NAME).is_file():
        return path
    from huggingface_hub import try_to_load_from_cache

    try:
        cached = try_to_load_from_cache(name, FILE_NAME.name)
    except ValueError:  # not a repository's name
        return None
    return Path(cached) if isinstance(cached, str) else None
