"""A whole GGUF file to write: its vocabulary, its tensors as streams of bytes, completely or not at all.

Chapter: New words for an old model. Cost: writes each byte once; memory for the vocabulary and a block of rows.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._support.progress import progress_bar
from .._support.textio import remove_stale, temporary_name
from ..chat.models.tensor_headers import Tensor
from ..errors import ModelFileError
from ..formats.gguf_container import ALIGNMENT, GGUFFile, TensorInfo, encode_header
from ..formats.gguf_load import PREFIX, TEMPLATE_KEY, TOKEN_TYPES
from ..formats.gguf_save import gguf_metadata
from .tensor_files import HashedFile, stored_bytes

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

EMBEDDING, OUTPUT, OUTPUT_BIAS = "token_embd.weight", "output.weight", "output.bias"
"""llama.cpp's names of the tensors with a row for each token."""
Metadata = tuple[dict[str, Any], dict[str, str]]
"""The keys of a file with their values, and the types of the keys that need one."""


class Part(NamedTuple):
    """A tensor to write: its name, its shape in rows first, ggml's type, its size, and what yields its bytes."""

    name: str
    shape: tuple[int, ...]
    type: int
    size: int
    read: Callable[[], Iterator[bytes]]


def copied(tensor: Tensor, code: int) -> Part:
    """Return the part that copies a tensor as it is stored, `code` being ggml's number of its type."""

    def read() -> Iterator[bytes]:
        with tensor.path.open("rb") as file:
            yield from stored_bytes(file, tensor)

    return Part(tensor.name, tensor.shape, code, tensor.size, read)


def write_file(
    path: Path,
    metadata: Metadata,
    parts: Sequence[Part],
    progress: bool | None,
    check: Callable[[Path], None] = lambda written: None,
) -> None:
    """Write the file under a temporary name in the same folder, call `check` with that, and rename it."""
    values, types = metadata
    alignment = values.get("general.alignment", ALIGNMENT)
    infos, end = [], 0
    for part in parts:
        infos.append(TensorInfo(part.name, part.shape[::-1], part.type, end))
        end += part.size + -part.size % alignment
    temporary = temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with HashedFile(temporary) as file, progress_bar(progress, end, "writing", "B") as advance:
            file.write(encode_header(values, types, infos))
            for part in parts:
                written = 0
                for data in part.read():
                    file.write(data)
                    written += len(data)
                    advance(len(data))
                assert written == part.size, part.name
                file.write(b"\0" * (-part.size % alignment))
        check(temporary)
        os.replace(temporary, path)
        remove_stale(path)
    except OSError as error:
        raise ModelFileError(f"{path} can't be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # renamed already, or never created
            temporary.unlink()


def vocabulary(tokenizer: "BPETokenizer", rows: int) -> Metadata:
    """Return the keys of a vocabulary for a model of `rows` rows, with an unused token for each row without one.

    Raises ConversionError if llama.cpp would give other ids, ModelFileError for ids beyond the rows.
    """
    metadata, types = gguf_metadata(tokenizer.spec)
    missing = rows - len(metadata[f"{PREFIX}tokens"])
    if missing < 0:
        raise ModelFileError(f"the tokenizer has {-missing:,} ids beyond the {rows:,} rows of the model")
    filler: dict[str, list[Any]] = {
        "tokens": [f"[PAD{number}]" for number in range(rows - missing, rows)],
        "scores": [0.0] * missing,
        "token_type": [TOKEN_TYPES["UNUSED"]] * missing,
    }
    for key, values in filler.items():
        if f"{PREFIX}{key}" in metadata:
            metadata[f"{PREFIX}{key}"] = [*metadata[f"{PREFIX}{key}"], *values]
    found = {key: value for key, value in metadata.items() if key.startswith((PREFIX, TEMPLATE_KEY))}
    return found, {key: kind for key, kind in types.items() if key in found}


def with_vocabulary(header: GGUFFile, tokenizer: "BPETokenizer", rows: int) -> Metadata:
    """Return the keys of a GGUF file with another vocabulary, of `rows` rows. Errors as for `vocabulary`."""
    added, types = vocabulary(tokenizer, rows)
    kept = {key: value for key, value in header.metadata.items() if not key.startswith(PREFIX)}
    size = f"{header.metadata.get('general.architecture')}.vocab_size"
    metadata = kept | added | ({size: rows} if size in kept else {})
    return metadata, {key: kind for key, kind in header.types.items() if key in kept} | types


def unknown_matrix(tensors: Sequence[Tensor]) -> Tensor | None:
    """Return a tensor outside the layers that has as many rows as there are tokens, and isn't one of those named."""
    rows = next((tensor.shape[0] for tensor in tensors if tensor.name == EMBEDDING), 0)
    known = (EMBEDDING, OUTPUT, OUTPUT_BIAS)
    others = (it for it in tensors if it.name not in known and not it.name.startswith("blk."))
    return next((tensor for tensor in others if rows in tensor.shape), None)
