"""The files of a model: weights in one file or in parts, and the files that say how to read them.

All are validated: parts may be missing, and a configuration may name sizes that the weights don't have, which an engine
would allocate before it checks. Chapter: Chat on your hardware. Cost: reading the files' headers.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..._support.json_document import JSONFile, short_repr
from ...errors import ModelFileError
from .tensor_headers import AGAIN, Tensor, gguf_tensors

INDEX = "model.safetensors.index.json"
PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})(\.gguf|\.safetensors)")
VOCABULARY = {f"tokenizer.ggml.{key}" for key in ("tokens", "token_type", "merges", "scores")}
ENDS = ("eos_token_id", "eot_token_id", "eom_token_id")
SIZES = (
    "hidden_size", "vocab_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads",
    "head_dim",
)  # fmt: skip


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, {} where there is no file. Raises TokenizerFileError."""
    return JSONFile(path).data if path.exists() else {}


def is_first_part(name: str) -> bool:
    """Return whether a file starts a model: it's the first of several parts, or the only one.

    >>> is_first_part("m.gguf"), is_first_part("m-00001-of-00003.gguf"), is_first_part("m-00002-of-00003.gguf")
    (True, True, False)
    """
    part = PART.fullmatch(name)
    return part is None or int(part[2]) == 1


def parts_of(name: str) -> list[str]:
    """Return the names of all parts of a model, given one of them.

    >>> parts_of("m-00002-of-00002.gguf")
    ['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf']
    """
    part = PART.fullmatch(name)
    if part is None:
        return [name]
    return [f"{part[1]}-{number:05}-of-{part[3]}{part[4]}" for number in range(1, int(part[3]) + 1)]


def gguf_model(path: Path) -> tuple[Path, dict[str, Any]]:
    """Return the first part of a GGUF model, and the model's metadata without the vocabulary.

    Raises ModelFileError if a part is missing or damaged, and for a vocabulary without weights.
    """
    parts = [path.with_name(name) for name in parts_of(path.name)]
    missing = next((part for part in parts if not part.exists()), None)
    if missing or not parts:
        raise ModelFileError(f"{path} is one part of a model, but {missing or 'the first'} is missing: download it too")
    headers = [gguf_tensors(part) for part in parts]
    if not any(tensors for _, tensors in headers):
        raise ModelFileError(f"{path} has no weights, only a vocabulary: it can tokenize but not chat")
    metadata = headers[0][0].metadata
    return parts[0], {key: value for key, value in metadata.items() if key not in VOCABULARY}


def safetensors_files(folder: Path) -> tuple[Path, ...]:
    """Return the safetensors files of a folder: one, or those that the index names; () if there are none.

    Raises ModelFileError if a part is missing, and for an adapter without its model.
    """
    index = folder / INDEX
    if (folder / "model.safetensors").exists():
        return (folder / "model.safetensors",)
    if index.exists():
        file = JSONFile(index)
        mapped = file.expect(file.data.get("weight_map"), dict, "weight_map").values()
        names = sorted({file.expect(name, str, "weight_map") for name in mapped})
        for name in names:
            if re.search(r"[/\\:\0]", name) or not (folder / name).exists():
                raise ModelFileError(f"{index} lists {name[:80]!r}, which is missing: download it too")
        return tuple(folder / name for name in names)
    others = sorted(path.name for path in folder.glob("*.safetensors"))
    if parts := list(filter(PART.fullmatch, others)):
        raise ModelFileError(f"{folder} has {parts[0]} but no {INDEX}, which lists the parts: download it too")
    if "adapter_model.safetensors" in others:
        raise ModelFileError(f"{folder} has an adapter, not a model: merge it into the model that it was trained on")
    return ()


def check_config(path: Path, config: Mapping[str, Any], tensors: Sequence[Tensor]) -> None:
    """Check that a configuration's sizes are valid and fit the tensors, if there are any. Raises ModelFileError."""
    text = config.get("text_config") or config
    if not isinstance(text, Mapping):
        raise ModelFileError(f"{path}: text_config must be an object, not {short_repr(text)}: {AGAIN}")
    size = {key: text[key] for key in SIZES if text.get(key) is not None and not isinstance(text[key], list)}
    for key, value in size.items():
        if type(value) is not int or value < 1:
            raise ModelFileError(
                f"{path}: {key} must be a whole number of at least 1, not {short_repr(value)}: {AGAIN}"
            )
    most = 8 * sum(tensor.size for tensor in tensors)  # how many numbers, if each were a single bit
    width, head = size.get("hidden_size", 1), size.get("head_dim", 1)
    for key, value in size.items():
        needed = value if key == "hidden_size" else value * width * (head if key.endswith("_heads") else 1)
        if tensors and needed > most:
            raise ModelFileError(f"{path}: {key} is {value:,}, more than these weights can have: {AGAIN}")
    if size.get("num_attention_heads", 0) % size.get("num_key_value_heads", 1):
        raise ModelFileError(f"{path}: num_attention_heads is not a multiple of num_key_value_heads: {AGAIN}")


def stop_ids(generation: Mapping[str, Any], config: Mapping[str, Any], metadata: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the stop ids, from the first of the three sources that names any, as transformers does.

    Raises ModelFileError.

    >>> stop_ids({"eos_token_id": [7, 5]}, {"eos_token_id": 2}, {})
    (5, 7)
    """
    for source in (generation, config, config.get("text_config") or {}):
        found = source.get("eos_token_id")
        ids = found if isinstance(found, list) else [] if found is None else [found]
        if not all(type(token) is int for token in ids):
            raise ModelFileError(f"eos_token_id must be an id or a list of ids, not {short_repr(found)}: {AGAIN}")
        if ids:
            return tuple(sorted(set(ids)))
    named = [metadata.get(f"tokenizer.ggml.{key}") for key in ENDS]
    return tuple(sorted({token for token in named if type(token) is int}))
