"""The files of a model's folder, for its plan: tensors, configurations, what is copied and what is left out.

Chapter: New words for an old model. Cost: reading the headers of the model's files.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._support.json_document import JSONFile
from ..chat.models.files import INDEX
from ..chat.models.find import PICKLES, ModelFiles
from ..chat.models.tensor_headers import Tensor, safetensors_tensors
from ..errors import ModelFileError
from ..formats.tokenizer_json_save import tokenizer_json
from .id_settings import with_new_ids
from .row_map import RowMap

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .matrices import Matrices

CARD, HASHES = "ADAPTED.md", "SHA256SUMS"
CONFIGS = ("config.json", "generation_config.json")
TOKENIZER_FILES = {
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "merges.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "tekken.json", "chat_template.jinja",
}  # fmt: skip
"""Files of the old tokenizer, replaced by the new one's."""
WEIGHTS = (
    ".safetensors", ".gguf", ".onnx", ".h5", ".msgpack", ".npz", ".npy", ".ot", ".tflite", ".mlmodel", ".xml", *PICKLES,
)  # fmt: skip
"""Suffixes of other weight files, which would still have the old vocabulary."""
MOST_FILES = 10_000


class FolderSource:
    """A model that is a folder with config.json and safetensors.

    Attributes:
        tensors: all its tensors, file by file.
        matrices: those with a row per token.
    """

    def __init__(self, files: ModelFiles) -> None:
        from .matrices import find_matrices

        self.files, self.tensors = files, folder_tensors(files)
        found = [tensor for tensors in self.tensors.values() for tensor in tensors]
        self.matrices: Matrices = find_matrices(files.name, files.config, found)

    def settings(self, rows: RowMap, new: "BPETokenizer") -> dict[str, Mapping[str, Any]]:
        """Return the configurations with the new model's ids and number of rows."""
        tokenizer_json(new.spec)
        found = {}
        for name in CONFIGS:
            path = self.files.folder / name
            if path.exists():
                found[name] = with_new_ids(str(path), JSONFile(path).data, rows, new)
        for keys in self.matrices.sizes:
            inner = found["config.json"]
            for key in keys[:-1]:
                inner = inner[key]
            inner[keys[-1]] = len(rows.source)
        return dict(found)

    def other_files(self) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the names of the files to copy, and name -> reason for those to leave out."""
        folder = self.files.folder
        written = {path.name for path in self.files.safetensors} | {INDEX, CARD, HASHES, *CONFIGS}
        copied, left_out = [], {}
        for path, name in _listed(folder):
            if name in written:
                continue
            if path.is_dir():
                left_out[f"{name}/"] = "a folder"
            elif not path.is_file():
                left_out[name] = "not a file"
            elif path.is_symlink() and path.resolve().parent not in (folder.resolve(), _blobs(folder)):
                left_out[name] = "a link that leads elsewhere"
            elif name in TOKENIZER_FILES or path.suffix == ".tiktoken":
                if name not in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
                    left_out[name] = "of the old tokenizer"
            elif path.name.endswith(WEIGHTS) or ".bin.index" in name or ".safetensors.index" in name:
                left_out[name] = "weights of the old vocabulary"
            else:
                copied.append(name)
        return tuple(copied), left_out


def folder_tensors(files: ModelFiles) -> dict[Path, tuple[Tensor, ...]]:
    """Return the tensors of each file, checked against the index if there is one. Raises ModelFileError."""
    found = {path: tuple(safetensors_tensors(path)) for path in files.safetensors}
    home: dict[str, Path] = {}
    for path, tensors in found.items():
        for tensor in tensors:
            if tensor.name in home:
                raise ModelFileError(f"the tensor {tensor.name[:80]!r} is in {home[tensor.name]} and in {path}")
            home[tensor.name] = path
    for name, file in index_of(files).items():
        if name not in home or home[name].name != file:
            raise ModelFileError(
                f"{files.folder / INDEX} says that {file} has the tensor {name[:80]!r}, which is "
                f"{'in ' + home[name].name if name in home else 'nowhere'}: fetch the model again"
            )
    return found


def index_of(files: ModelFiles) -> dict[str, str]:
    """Return tensor -> file for a sharded model; {} for a model in one file."""
    if [path.name for path in files.safetensors] == ["model.safetensors"]:
        return {}
    return dict(JSONFile(files.folder / INDEX).data["weight_map"])


def _blobs(folder: Path) -> Path:
    """Return the folder of the Hub's cache that holds the files a model's folder links to."""
    return folder.resolve().parent.parent / "blobs"


def _listed(folder: Path) -> Iterator[tuple[Path, str]]:
    paths = sorted(folder.iterdir())
    if len(paths) > MOST_FILES:
        raise ModelFileError(f"{folder} has more than {MOST_FILES:,} files: it is not the folder of one model")
    yield from ((path, path.name) for path in paths if not path.name.startswith(".") and path.name != "__pycache__")
