"""Hugging Face's format: a folder with `tokenizer.json` and `tokenizer_config.json`.

`tokenizer_json` parses the first, and `tokenizer_json_save` writes it; here are the second, and the folder. A large
model is kept on disk once it was read (`model/disk_cache.py`).

Chapter: File formats. Cost: that of parsing JSON.
"""

import json
from pathlib import Path
from typing import Any

from .._support.gc_paused import gc_paused
from .._support.json_document import JSONFile, read_bytes, short_repr
from .._support.textio import write_all_atomically
from ..core.spec import TokenizerSpec
from ..errors import ConversionError
from ..model import disk_cache
from ..regex.patterns import PATTERNS
from ..vocab.special_tokens import ROLES
from .config_tokens import LISTED, add_listed_tokens, listed_tokens
from .model_json import open_json
from .tokenizer_json import OWN_PATTERN, read_tokenizer

METADATA_KEYS = ("chat_template", "model_max_length", "padding_side", "truncation_side")
"""Entries of tokenizer_config.json that are read, besides the roles. The others don't matter, or name code to run."""


def load(path: Path) -> TokenizerSpec:
    """Return the tokenizer in a folder, or in a tokenizer.json; see `BPETokenizer.from_pretrained`."""
    path = path / "tokenizer.json" if path.is_dir() else path
    options = read_config(path.parent)
    return from_buffer(path, read_bytes(path), options, options.pop(LISTED))


@gc_paused()  # a file may have a million added tokens, and each collection visits all their objects
def from_buffer(
    path: Path, content: bytes, options: dict[str, Any], listed: list[dict[str, Any]] | None = None
) -> TokenizerSpec:
    """Return the specification in a tokenizer.json.

    `path` names the file in error messages; `options` are further arguments of TokenizerSpec; `listed` are the added
    tokens of the tokenizer_config.json beside it.
    """
    name = disk_cache.fingerprint(b"tokenizer.json", content, *([json.dumps(listed).encode()] if listed else []))
    if (cached := disk_cache.fetch(name)) is not None:
        model, rest = cached
        return read_tokenizer(JSONFile(path, rest), options, model)
    file, merges = open_json(path, content)
    add_listed_tokens(file, listed or [])
    spec = read_tokenizer(file, options, merges=merges)
    if len(spec.special_tokens.tokens) > disk_cache.size_of(spec.model):
        return spec  # caching the model would save the smaller part of the work
    file.data["model"] = {key: value for key, value in file.data["model"].items() if key not in ("vocab", "merges")}
    disk_cache.store(name, spec.model, json.dumps(file.data).encode())
    return spec


def read_config(folder: Path) -> dict[str, Any]:
    """Return the arguments in tokenizer_config.json, special_tokens_map.json and chat_template.jinja.

    The added tokens that tokenizer_config.json lists are under the key LISTED.
    """
    metadata: dict[str, Any] = {}
    listed: list[dict[str, Any]] = []
    own_pattern: dict[str, Any] = {}
    roles: dict[str, str | None] = {f"{role}_token": None for role in ROLES}
    for path in (folder / "special_tokens_map.json", folder / "tokenizer_config.json"):  # the latter is newer and wins
        if path.exists():
            file = JSONFile(path)
            roles |= {key: _token_name(file, key) for key in roles if key in file.data}
            if path.name == "tokenizer_config.json":
                metadata = {key: _metadata_value(file, key) for key in METADATA_KEYS if file.data.get(key) is not None}
                own_pattern = {key: file.data[key] for key in (OWN_PATTERN,) if key in file.data}
                listed = listed_tokens(file)
    template = folder / "chat_template.jinja"
    if template.exists():
        metadata["chat_template"] = read_bytes(template).decode("utf-8", "replace")
    return {"metadata": metadata, LISTED: listed, **own_pattern, **roles}


def _token_name(file: JSONFile, key: str) -> str | None:
    """Return the name of a token, given as a string or an object with its flags."""
    value = file.data[key]
    if isinstance(value, dict):
        return file.expect(value.get("content"), str, f"{key}.content")
    return None if value is None else file.expect(value, str, key)


def _metadata_value(file: JSONFile, key: str) -> Any:
    value = file.data[key]
    if key == "model_max_length":  # 1e30 for "no limit"
        return value if isinstance(value, float) else file.expect(value, int, key)
    if key == "chat_template" and isinstance(value, list):
        for index, entry in enumerate(value):
            for part in ("name", "template"):
                file.expect(file.expect(entry, dict, f"{key}[{index}]").get(part), str, f"{key}[{index}].{part}")
        return value
    return file.expect(value, str, key)


def save(spec: TokenizerSpec, folder: Path) -> None:
    """Write both files; see `BPETokenizer.save`."""
    from .tokenizer_json_save import tokenizer_json

    files = {"tokenizer.json": tokenizer_json(spec), "tokenizer_config.json": _config(spec)}
    if spec.pattern == "cl100k":
        files["tokenizer_config.json"][OWN_PATTERN] = spec.pattern
    contents = {name: json.dumps(data, ensure_ascii=False, indent=2).encode() + b"\n" for name, data in files.items()}
    if folder.exists() and not folder.is_dir():
        raise ConversionError(f"{folder} is a file; save writes a folder")
    if folder.suffix == ".json" and not folder.exists():
        raise ConversionError(
            f"save writes a folder, and {folder.name} is a file's name: {folder.stem} would get a tokenizer.json, "
            "which can be opened alone"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_all_atomically({folder / name: content for name, content in contents.items()})
    _warn_if_unpublished(spec, files["tokenizer.json"]["pre_tokenizer"], folder / "tokenizer.json")


def _warn_if_unpublished(spec: TokenizerSpec, pre_tokenizer: Any, path: Path) -> None:
    import warnings

    from .published_patterns import MISREAD, UnpublishedPattern, unpublished

    if (pattern := unpublished(pre_tokenizer)) is None:
        return
    shown = spec.pattern if spec.pattern in PATTERNS else short_repr(pattern)
    problem = f"tokenizers 1.0 opens {path} but can't encode with it: the only split patterns that it runs are those "
    problem += f"published in a tokenizer.json, and {shown} isn't one of them"
    if pattern in MISREAD:
        problem = f"tokenizers 1.0.0rc3 gives other ids with {path}: it cuts numbers after three digits, unlike {shown}"
    warnings.warn(f"{problem}; tokenizers 0.22 runs every pattern", UnpublishedPattern, stacklevel=4)


def _config(spec: TokenizerSpec) -> dict[str, Any]:
    roles = {f"{role}_token": spec.roles[role] for role in ROLES}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,  # would remove spaces before punctuation when decoding
        **{role: name for role, name in roles.items() if name is not None},
        **{key: spec.metadata[key] for key in METADATA_KEYS if key in spec.metadata},
    }
