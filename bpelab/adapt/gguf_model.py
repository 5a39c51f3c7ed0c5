"""Adapt a model that is a GGUF file: the same file with another vocabulary and the matrices of that, all else copied.

Quantized matrices stay quantized. The rows of shared tokens are copied as they are stored, and a new row is computed
from dequantized rows and quantized again, in the type of its matrix. So the architecture doesn't matter, and neither
does the type of any other tensor.

Chapter: New words for an old model. Cost: reads and writes each byte once; memory for the vocabularies and a block of
rows. Source: llama.cpp `src/llama-arch.cpp` for the names of tensors.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..chat.models.files import parts_of
from ..chat.models.find import ModelFiles
from ..chat.models.tensor_headers import Tensor, gguf_tensors
from ..errors import ModelFileError
from ..formats.gguf_load import PREFIX, TOKEN_TYPES, load
from .gguf_file import EMBEDDING, OUTPUT, OUTPUT_BIAS, Part, copied, unknown_matrix, with_vocabulary, write_file
from .id_settings import with_new_ids
from .matrices import Matrices
from .numbers import STORED
from .quantized import CODES, check_quantizes
from .row_map import RowMap
from .row_rules import ROW_RULES
from .tensor_files import new_rows, new_shape

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer
    from .plan import AdaptationPlan


class GGUFSource:
    """A model that is a GGUF file.

    Attributes:
        tensors: all its tensors, by the file.
        matrices: those with a row per token.
    """

    def __init__(self, files: ModelFiles) -> None:
        assert files.gguf is not None
        if len(parts_of(files.gguf.name)) > 1:
            raise ModelFileError(
                f"{files.name} is in several parts: join them first, with llama-gguf-split --merge {files.gguf.name} "
                "joined.gguf"
            )
        self.files = files
        self.header, found = gguf_tensors(files.gguf)
        if self.header.byte_order != "little":
            raise ModelFileError(f"{files.name}: its numbers are big-endian, and only little-endian ones are adapted")
        self.tensors: Mapping[Path, tuple[Tensor, ...]] = {files.gguf: tuple(found)}
        self.matrices = _matrices(files.name, found)

    def settings(self, rows: RowMap, new: "BPETokenizer") -> dict[str, Mapping[str, Any]]:
        """Return the keys of the new file and their types. Raises an error for whatever couldn't be written.

        Keys of the old vocabulary that a tokenizer doesn't have here, such as the id that ends a turn, are kept, their
        ids mapped. Tokens that are marked as unused stay so.
        """
        old = self.header.metadata
        metadata, types = with_vocabulary(self.header, new, len(rows.source))
        others = {
            key.removeprefix(PREFIX): value
            for key, value in old.items()
            if key.startswith(PREFIX) and key not in metadata and isinstance(value, int)
        }
        for key, value in with_new_ids(f"{self.files.name}: {PREFIX[:-1]}", others, rows, new).items():
            metadata[f"{PREFIX}{key}"], types[f"{PREFIX}{key}"] = value, self.header.types[f"{PREFIX}{key}"]
        was, now = old.get(f"{PREFIX}token_type", []), metadata[f"{PREFIX}token_type"]
        for old_id, new_id in rows.ids.items():
            if old_id < len(was) and (was[old_id], now[new_id]) == (TOKEN_TYPES["UNUSED"], TOKEN_TYPES["NORMAL"]):
                now[new_id] = was[old_id]
        if (rows.source < 0).any():
            for kind in {tensor.type for tensor in self.matrices.tensors} - STORED.keys():
                check_quantizes(kind)
        return {"metadata": metadata, "types": types}

    def other_files(self) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return that no files are copied and none left out."""
        return (), {}


def _matrices(name: str, tensors: list[Tensor]) -> Matrices:
    """Return the tensors with a row per token. Raises ModelFileError."""
    found = tuple(tensor for tensor in tensors if tensor.name in (EMBEDDING, OUTPUT, OUTPUT_BIAS))
    embedding = next((tensor for tensor in found if tensor.name == EMBEDDING), None)
    if embedding is None:
        raise ModelFileError(f"{name} has no tensor {EMBEDDING}: it is not the GGUF file of a whole model")
    rows = embedding.shape[0]
    strange = next((it for it in found if it.shape[0] != rows), None) or unknown_matrix(tensors)
    if strange is not None:
        raise ModelFileError(
            f"{name}: the tensor {strange.name} has the shape {strange.shape}, {EMBEDDING} has {rows:,} rows, and how "
            "the two belong together is not known here: the model can't be adapted"
        )
    return Matrices(found, rows, ())


def write_model(plan: "AdaptationPlan", path: Path, seed: int, progress: bool | None) -> None:
    """Write the adapted GGUF file, completely or not at all. Raises ModelFileError."""
    changed = {tensor.name for tensor in plan.matrices.tensors}
    (tensors,) = plan.tensors.values()
    parts = [_adapted(it, plan, seed) if it.name in changed else copied(it, CODES[it.type]) for it in tensors]
    settings = plan.settings

    def check(written: Path) -> None:
        if [each.name for each in gguf_tensors(written)[1]] != [tensor.name for tensor in tensors]:
            raise ModelFileError(f"{path} was written with other tensors than planned")
        if not plan.new.spec.tokens.items() <= load(written).tokens.items():
            raise ModelFileError(f"{path}: the tokenizer was written with other ids than planned")

    write_file(path, (dict(settings["metadata"]), dict(settings["types"])), parts, progress, check)


def _adapted(tensor: Tensor, plan: "AdaptationPlan", seed: int) -> Part:
    shape, size = new_shape(tensor, plan.rows)

    def read() -> Iterator[bytes]:
        with tensor.path.open("rb") as file:
            yield from new_rows(file, tensor, plan.rows, ROW_RULES[plan.rule], seed)

    return Part(tensor.name, shape, CODES[tensor.type], size, read)
