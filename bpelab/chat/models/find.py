"""Find a model by name: a GGUF file, a folder, an id on the Hugging Face Hub, or the model that bpelab ships.

A model's files are validated before any engine sees them (`tensor_headers`): a C++ engine may crash on a truncated or
malicious file. Pickled weights are never opened: they can contain code.

Chapter: Chat on your hardware. Cost: reading the files' headers; downloading a Hub model that isn't in the cache.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._support.textio import expand_user
from ...errors import ModelFileError, TokenizerFileError
from .files import check_config, gguf_model, is_first_part, read_json, safetensors_files, stop_ids
from .tensor_headers import safetensors_tensors

if TYPE_CHECKING:
    from ...tokenizer import BPETokenizer

SHIPPED = Path(__file__).parents[2] / "data" / "tiny_chat"
"""The model that comes with bpelab."""
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
INSTEAD = "which can contain code and is never opened: use the model's safetensors or GGUF files"


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model, validated.

    Attributes:
        name: what the user called it.
        folder: where the files are.
        gguf: its GGUF file, the first of several parts; None if there is none.
        safetensors: its safetensors files, () if there are none.
        config: config.json, {} if there is none.
        stop_ids: the ids that end an answer, according to the files.
        metadata: the GGUF file's metadata without the vocabulary, {} if there is none.
    """

    name: str
    folder: Path
    gguf: Path | None
    safetensors: tuple[Path, ...]
    config: Mapping[str, Any] = field(repr=False)
    stop_ids: tuple[int, ...]
    metadata: Mapping[str, Any] = field(repr=False)

    def tokenizer(self) -> "BPETokenizer":
        """Return the model's own tokenizer, its chat templates included. Raises TokenizerFileError."""
        from ...tokenizer import BPETokenizer

        if self.safetensors or self.gguf is None:
            return BPETokenizer.from_pretrained(self.folder)
        from ...formats.gguf_load import load

        return BPETokenizer.from_spec(load(self.gguf))

    @property
    def architecture(self) -> str:
        """The kind of model, as its files call it: "llama", "qwen2"."""
        return str(self.config.get("model_type") or self.metadata.get("general.architecture") or "unknown")

    @property
    def context_length(self) -> int | None:
        """The context length that the model was made for, in ids; None if its files don't say."""
        text = self.config.get("text_config") or self.config
        known = (
            text.get("max_position_embeddings"),
            text.get("n_positions"),
            self.metadata.get(f"{self.metadata.get('general.architecture')}.context_length"),
        )
        return next((length for length in known if type(length) is int and length > 0), None)


def find_model(
    name: str | Path | None = None,
    *,
    gguf_file: str | None = None,
    revision: str | None = None,
    token: str | bool | None = None,
    cache_dir: str | Path | None = None,
) -> ModelFiles:
    """Return the files of a model.

    Args:
        name: a GGUF file; a folder with one, or with config.json and safetensors; "organization/name" on the Hub, where
            "organization/name:Q4_K_M" takes the GGUF file of that quantization. A local path wins. None: the model that
            comes with bpelab.
        gguf_file: which GGUF file, if a folder or a repository has several.
        revision, token, cache_dir: for the Hub, as for `BPETokenizer.from_huggingface`.

    A download shows its progress, resumes after a broken connection, and is cached file by file; HF_HUB_OFFLINE=1
    forbids it. Raises ModelFileError for files that aren't a model, or are damaged or truncated; BPELabError if the Hub
    doesn't provide them; MissingDependencyError without huggingface_hub.

    >>> find_model("no/such/file.gguf")
    Traceback (most recent call last):
    bpelab.errors.ModelFileError: no/such/file.gguf: there is no such file or folder
    """
    path = SHIPPED if name is None else expand_user(name)
    called = "the model that comes with bpelab" if name is None else str(name)
    try:
        if path.is_dir():
            return _in_folder(called, path, gguf_file)
        if os.path.exists(path):
            return _in_file(called, path)
        if name is None:
            raise ModelFileError(f"{path}, the model that comes with bpelab, is missing: reinstall bpelab")
        if isinstance(name, Path) or path.suffix in (".gguf", ".safetensors", *PICKLES):
            raise ModelFileError(f"{name}: there is no such file or folder")
        from .hub import fetch_model

        folder, chosen = fetch_model(called, gguf_file=gguf_file, revision=revision, token=token, cache_dir=cache_dir)
        return _in_folder(called, folder, None) if chosen is None else _in_file(called, folder / chosen)
    except TokenizerFileError as error:
        raise ModelFileError(str(error)) from error
    except OSError as error:
        raise ModelFileError(f"{called}: can't be read: {error.strerror or error}") from error


def _in_file(name: str, path: Path) -> ModelFiles:
    if path.suffix == ".safetensors":
        raise ModelFileError(f"{path} has only a model's weights: pass its folder, {path.parent}")
    if path.suffix in PICKLES:
        raise ModelFileError(f"{path} seems to be a pickle, {INSTEAD}")
    first, metadata = gguf_model(path)
    return ModelFiles(name, path.parent, first, (), {}, stop_ids({}, {}, metadata), metadata)


def _in_folder(name: str, folder: Path, gguf_file: str | None) -> ModelFiles:
    """Return the model in a folder; several GGUF files are no problem if there are safetensors too."""
    weights = safetensors_files(folder)
    found = sorted(path.name for path in folder.glob("*.gguf") if not path.name.startswith("mmproj"))
    chosen = [gguf_file] if gguf_file is not None else list(filter(is_first_part, found))
    if gguf_file is not None and gguf_file not in found:
        raise ModelFileError(f"{folder} has no file {gguf_file!r}; it has {', '.join(found) or 'no GGUF file at all'}")
    if len(chosen) > 1 and not weights:
        raise ModelFileError(f"{folder} has {len(chosen)} models: choose one of {', '.join(chosen)}")
    if not chosen and not weights:
        pickled = sorted(path.name for path in folder.iterdir() if path.suffix in PICKLES)
        only = f", only {pickled[0]}, {INSTEAD}" if pickled else ": pass a folder that has one"
        raise ModelFileError(f"{folder} has no model.safetensors and no GGUF file{only}")
    config = read_json(folder / "config.json")
    if weights and not config:
        raise ModelFileError(f"{folder} has weights but no config.json, which says how to read them: download that too")
    check_config(folder / "config.json", config, [tensor for path in weights for tensor in safetensors_tensors(path)])
    first, metadata = gguf_model(folder / chosen[0]) if len(chosen) == 1 else (None, {})
    stops = stop_ids(read_json(folder / "generation_config.json"), config, metadata)
    return ModelFiles(name, folder, first, weights, config, stops, metadata)
