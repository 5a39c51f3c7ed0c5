"""Write an adapted model as a GGUF file for llama.cpp, with the vocabulary that `formats/gguf_save.py` writes.

llama.cpp's own converter identifies tokenizers by a hash of their ids for one text. It converts an adapted folder like
any other if no new token occurs in that text; otherwise it refuses the tokenizer. For that case there are two ways
here. A Llama is written from its safetensors. For any other model, let the converter write the original model, whose
tokenizer it knows. That file serves as the template: all its tensors are copied, except those with a row per token,
which are replaced by the adapted ones.

Chapter: New words for an old model. Cost: reads and writes each number once; memory for a tensor in float32.
Source: llama.cpp `conversion/llama.py` and `conversion/base.py` for names, the order of rows, and types.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._support.progress import progress_bar
from .._support.textio import expand_user, remove_stale, temporary_name
from .._support.validate import check_name
from ..chat.backends.llama_config import ModelShape, read_model_shape
from ..chat.backends.llama_weights import FACTORS, NAMES, Array, LlamaFile
from ..chat.models.find import ModelFiles, find_model
from ..chat.models.tensor_headers import Tensor, gguf_tensors, safetensors_tensors
from ..errors import ModelFileError
from ..formats.gguf_container import ALIGNMENT, TensorInfo, encode_header
from ..formats.gguf_load import PREFIX, TOKEN_TYPES
from ..formats.gguf_save import gguf_metadata
from .matrices import find_matrices
from .numbers import STORED, from_float64, to_float64
from .tensor_files import HashedFile, stored_bytes

if TYPE_CHECKING:
    from ..tokenizer import BPETokenizer

TYPES = {"F32": 0, "F16": 1, "BF16": 30}
FILE_TYPES = {"F32": 0, "F16": 1, "BF16": 32}
"""The type numbers of tensors, and of files whose matrices have that type."""
EMBEDDING, OUTPUT = "token_embd.weight", "output.weight"
BLOCK = 1024


class Part(NamedTuple):
    """A tensor to write: its name and shape in the file, its type, and what yields its bytes."""

    name: str
    shape: tuple[int, ...]
    type: int
    size: int
    read: Callable[[], Iterator[bytes]]


def write_gguf(
    model: "str | Path | ModelFiles",
    path: str | Path,
    *,
    like: str | Path | None = None,
    dtype: str | None = None,
    progress: bool | None = False,
) -> None:
    """Write a model's safetensors and tokenizer as one GGUF file, completely or not at all.

    Args:
        model: the adapted model's folder.
        like: a GGUF file of the original model, written by llama.cpp's converter; needed for architectures other than
            Llama's. Its matrices with a row per token must not be quantized.
        dtype: "F32", "F16" or "BF16", the type of matrices; by default that of the input matrix. Tensors of one
            dimension are F32, as in llama.cpp.
        progress: whether to show a progress bar of the bytes written; None shows it only in a terminal.

    Raises ModelFileError for a model that can't be written this way, ConversionError for a tokenizer whose ids
    llama.cpp wouldn't reproduce, and ValueError for another dtype.

    >>> import tempfile
    >>> from bpelab.chat.models.find import SHIPPED
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_gguf(SHIPPED, f"{home}/model.gguf", dtype="F32")
    ...     find_model(f"{home}/model.gguf").tokenizer().n_vocab
    1024
    """
    if dtype is not None:
        check_name(dtype, "dtype", TYPES)
    files = model if isinstance(model, ModelFiles) else find_model(model)
    if not files.safetensors:
        raise ModelFileError(f"{files.name} has no safetensors to write as GGUF")
    tokenizer = files.tokenizer()
    if like is None:
        metadata, types, parts = _llama(files, tokenizer, dtype)
    else:
        metadata, types, parts = _as_pattern(files, tokenizer, Path(expand_user(like)), dtype)
    _write(Path(expand_user(path)), metadata, types, parts, progress)


def _write(
    path: Path, metadata: Mapping[str, Any], types: Mapping[str, str], parts: list[Part], progress: bool | None
) -> None:
    """Write the file under a temporary name in the same folder, then rename it."""
    alignment = metadata.get("general.alignment", ALIGNMENT)
    infos, end = [], 0
    for part in parts:
        infos.append(TensorInfo(part.name, part.shape[::-1], part.type, end))
        end += part.size + -part.size % alignment
    temporary = temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with HashedFile(temporary) as file, progress_bar(progress, end, "writing", "B") as advance:
            file.write(encode_header(metadata, types, infos))
            for part in parts:
                written = 0
                for data in part.read():
                    file.write(data)
                    written += len(data)
                    advance(len(data))
                assert written == part.size, part.name
                file.write(b"\0" * (-part.size % alignment))
        os.replace(temporary, path)
        remove_stale(path)
    except OSError as error:
        raise ModelFileError(f"{path} can't be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # renamed already, or never created
            temporary.unlink()


def _vocabulary(tokenizer: "BPETokenizer", rows: int, architecture: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the vocabulary's keys and their types, with an unused token for each row without one."""
    metadata, types = gguf_metadata(tokenizer.spec)
    missing = rows - len(metadata[f"{PREFIX}tokens"])
    if missing < 0:
        raise ModelFileError(f"the tokenizer has {-missing:,} ids beyond the {rows:,} rows of the model")
    unused = [f"[PAD{number}]" for number in range(rows - missing, rows)]
    filler: dict[str, list[Any]] = {
        "tokens": unused,
        "scores": [0.0] * missing,
        "token_type": [TOKEN_TYPES["UNUSED"]] * missing,
    }
    for key, values in filler.items():
        if f"{PREFIX}{key}" in metadata:
            metadata[f"{PREFIX}{key}"] = [*metadata[f"{PREFIX}{key}"], *values]
    kept = {key: value for key, value in metadata.items() if not key.startswith("llama.")}
    kept["general.architecture"] = architecture
    return kept, {key: kind for key, kind in types.items() if key in kept}


# -- a Llama, from its safetensors -------------------------------------------------------------------------------------


def _llama(
    files: ModelFiles, tokenizer: "BPETokenizer", dtype: str | None
) -> tuple[dict[str, Any], dict[str, str], list[Part]]:
    shape = read_model_shape(files)
    file = LlamaFile(files, shape)
    kind = dtype or file.find("embedding").type
    architecture = "qwen2" if files.architecture == "qwen2" else "llama"
    metadata, types = _vocabulary(tokenizer, file.vocab_size, architecture)
    config = files.config
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    sizes = {
        "vocab_size": file.vocab_size,
        "context_length": files.context_length or 2048,
        "embedding_length": shape.hidden,
        "block_count": shape.layers,
        "feed_forward_length": shape.inner,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads,
        "attention.key_length": shape.head_dim,
        "attention.value_length": shape.head_dim,
        "rope.dimension_count": shape.head_dim,
    }
    numbers = {
        "attention.layer_norm_rms_epsilon": shape.epsilon,
        "rope.freq_base": float(rope.get("rope_theta") or config.get("rope_theta") or 10_000.0),
    }
    metadata |= {f"{architecture}.{key}": value for key, value in {**sizes, **numbers}.items()}
    metadata |= {"general.type": "model", "general.name": Path(files.name).name, "general.file_type": FILE_TYPES[kind]}
    types |= {f"{architecture}.{key}": "uint32" for key in sizes} | {"general.file_type": "uint32"}
    types |= {f"{architecture}.{key}": "float32" for key in numbers}
    parts = [
        _part(name, read, size, kind)
        for name, size, read in _llama_tensors(file, shape, float(numbers["rope.freq_base"]))
    ]
    return metadata, types, parts


def _llama_tensors(
    file: LlamaFile, shape: ModelShape, base: float
) -> Iterator[tuple[str, tuple[int, ...], Callable[[], Array]]]:
    """Yield each tensor's name in llama.cpp, its shape, and a reader that returns its rows in llama.cpp's order."""
    plain = (1 / base ** (np.arange(0, shape.head_dim, 2) / shape.head_dim)).astype(np.float32)
    factors = plain / shape.frequencies
    if not np.allclose(factors, 1):
        yield FACTORS, factors.shape, lambda: factors
    known = {theirs: (what, ours) for what, (theirs, ours) in NAMES.items()}
    for tensor in file.tensors.values():
        stem, kind = tensor.name.rsplit(".", 1)
        layer = re.search(r"\.(\d+)\.", stem)
        what, ours = known.get(re.sub(r"\.\d+\.", ".{}.", stem, count=1), ("", ""))
        if not what or (what == "head" and shape.tied):  # rotary frequencies in older files, and a copy
            continue
        heads = {"q": shape.heads, "k": shape.kv_heads}.get(what, 0) if not shape.biased else 0

        def read(tensor: Tensor = tensor, heads: int = heads) -> Array:
            rows = file.read(tensor, *tensor.shape)
            return rows.reshape(heads, 2, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape) if heads else rows

        yield f"{ours.format(layer[1] if layer else '')}.{kind}", tensor.shape, read


def _part(name: str, read: Callable[[], Array], shape: tuple[int, ...], kind: str) -> Part:
    """Return the part that is written for a tensor: vectors in F32, matrices in `kind`."""
    kind = kind if len(shape) > 1 else "F32"

    def blocks() -> Iterator[bytes]:
        rows = read()
        for start in range(0, len(rows), BLOCK):
            yield from_float64(rows[start : start + BLOCK].astype(np.float64), kind).tobytes()

    return Part(name, shape, TYPES[kind], prod(shape) * np.dtype(STORED[kind]).itemsize, blocks)


# -- any model, from a GGUF file of the original -----------------------------------------------------------------------


def _as_pattern(
    files: ModelFiles, tokenizer: "BPETokenizer", like: Path, dtype: str | None
) -> tuple[dict[str, Any], dict[str, str], list[Part]]:
    """Return the contents of the old model's GGUF file, with the adapted model's vocabulary and rows."""
    header, old = gguf_tensors(like)
    if header.byte_order != "little":
        raise ModelFileError(f"{like}: its numbers are big-endian, and only little-endian ones are copied")
    tensors = [tensor for path in files.safetensors for tensor in safetensors_tensors(path)]
    matrices = find_matrices(files.name, files.config, tensors)
    inputs, outputs = _both(files, matrices.tensors)
    new = {EMBEDDING: inputs, OUTPUT: outputs or inputs}
    parts = []
    codes = {info.name: info.type for info in header.tensors}
    old_rows = next((tensor.shape[0] for tensor in old if tensor.name == EMBEDDING), 0)
    for tensor in old:
        if tensor.name in new:
            parts.append(_adapted(like, tensor, new[tensor.name], dtype))
        elif not tensor.name.startswith("blk.") and old_rows in tensor.shape:
            raise ModelFileError(f"{like}: its tensor {tensor.name} has a row for each token, and isn't known here")
        else:
            parts.append(Part(tensor.name, tensor.shape, codes[tensor.name], tensor.size, partial(_copied, tensor)))
    if EMBEDDING not in {part.name for part in parts}:
        raise ModelFileError(f"{like} has no tensor {EMBEDDING}: it is not the GGUF file of a whole model")
    architecture = str(header.metadata.get("general.architecture"))
    added, types = _vocabulary(tokenizer, matrices.rows, architecture)
    kept = {key: value for key, value in header.metadata.items() if not key.startswith(PREFIX)}
    size = f"{architecture}.vocab_size"
    kept |= {key: value for key, value in added.items() if key.startswith(PREFIX)}
    kept |= {size: matrices.rows} if size in kept else {}
    types = {key: kind for key, kind in types.items() if key.startswith(PREFIX)}
    return kept, {**{key: kind for key, kind in header.types.items() if key in kept}, **types}, parts


def _both(files: ModelFiles, tensors: tuple[Tensor, ...]) -> tuple[Tensor, Tensor | None]:
    """Return the input and the output matrix; None for the second if they're tied. Raises ModelFileError for more."""
    names = {tensor.name for tensor in tensors}
    heads = [it for it in tensors if it.name.endswith(("lm_head.weight", "embed_out.weight"))]
    inputs = [it for it in tensors if it not in heads]
    if len(inputs) != 1 or len(heads) > 1:
        raise ModelFileError(f"{files.name}: {', '.join(sorted(names))}: it isn't known how GGUF stores more than two")
    return inputs[0], heads[0] if heads and files.config.get("tie_word_embeddings") is not True else None


def _adapted(like: Path, old: Tensor, new: Tensor, dtype: str | None) -> Part:
    """Return an adapted matrix in the type that the template file uses, or in `dtype`."""
    kind = dtype or old.type
    if kind not in TYPES:
        raise ModelFileError(
            f"{like}: its tensor {old.name} is quantized ({old.type}): convert the old model to F32, F16 or BF16, and "
            "quantize the file that is written"
        )
    if old.shape[1:] != new.shape[1:]:
        raise ModelFileError(f"{like}: its tensor {old.name} is {old.shape[1:]} wide, and {new.name} {new.shape[1:]}")

    def blocks() -> Iterator[bytes]:
        with new.path.open("rb") as file:
            for data in stored_bytes(file, new):
                yield from_float64(to_float64(np.frombuffer(data, STORED[new.type]), new.type), kind).tobytes()

    return Part(old.name, new.shape, TYPES[kind], prod(new.shape) * np.dtype(STORED[kind]).itemsize, blocks)


def _copied(tensor: Tensor) -> Iterator[bytes]:
    with tensor.path.open("rb") as file:
        yield from stored_bytes(file, tensor)
