"""Write an adapted model's folder as a GGUF file for llama.cpp, with the vocabulary that `formats/gguf_save.py` writes.

llama.cpp's own converter identifies tokenizers by a hash of their ids for one text. It converts an adapted folder like
any other if no new token occurs in that text; otherwise it refuses the tokenizer. For that case there are two ways
here. A Llama or a Qwen2 is written from its safetensors. For any other model, a GGUF file of the original model is the
template: all its tensors are copied, except those with a row per token, which are replaced by the adapted ones.

A model that is a GGUF file is adapted without such a detour (`gguf_model.py`).

Chapter: New words for an old model. Cost: reads and writes each number once; memory for a tensor in float32.
"""

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.textio import expand_user
from .._support.validate import check_name
from ..chat.models.find import ModelFiles, find_model
from ..chat.models.tensor_headers import GGUF_BLOCKS, Tensor, gguf_tensors, safetensors_tensors
from ..errors import ModelFileError
from ..formats.gguf_container import GGUFFile
from ..formats.gguf_save import gguf_metadata
from .gguf_file import EMBEDDING, OUTPUT, Part, copied, unknown_matrix, vocabulary, with_vocabulary, write_file
from .gguf_llama import FILE_TYPES, llama_contents
from .matrices import find_matrices
from .numbers import STORED, from_float64, stored_type, to_float64
from .quantized import CODES, check_quantizes
from .tensor_files import CHUNK, read_at

if TYPE_CHECKING:
    from .plan import AdaptationPlan


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
        like: a GGUF file of the original model; needed for architectures other than Llama's and Qwen2's. Of its
            tensors only those with a row per token are replaced, in the type that they have there.
        dtype: "F32", "F16" or "BF16", the type of matrices; by default that of the input matrix. Tensors of one
            dimension are F32, as in llama.cpp.
        progress: whether to show a progress bar of the bytes written; None shows it only in a terminal.

    Raises ModelFileError for a model that can't be written this way, ConversionError for a tokenizer whose ids
    llama.cpp wouldn't reproduce, MissingDependencyError where rows have to be quantized and gguf is missing, and
    ValueError for another dtype.

    >>> import tempfile
    >>> from bpelab.chat.models.find import SHIPPED
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_gguf(SHIPPED, f"{home}/model.gguf", dtype="F32")
    ...     find_model(f"{home}/model.gguf").tokenizer().n_vocab
    1024
    """
    if dtype is not None:
        check_name(dtype, "dtype", FILE_TYPES)
    files = model if isinstance(model, ModelFiles) else find_model(model)
    if not files.safetensors:
        raise ModelFileError(f"{files.name} has no safetensors to write as GGUF")
    tokenizer = files.tokenizer()
    if like is None:
        (values, types), parts, rows = llama_contents(files, dtype)
        added, added_types = vocabulary(tokenizer, rows)
        metadata = {**values, **added}, {**types, **added_types}
    else:
        header, parts, rows = _like(files, Path(expand_user(like)), dtype)
        metadata = with_vocabulary(header, tokenizer, rows)
    write_file(Path(expand_user(path)), metadata, parts, progress)


def check_gguf(plan: "AdaptationPlan", like: str | Path | None) -> None:
    """Raise the errors that `write_gguf` would raise for the folder of a plan, before that is written."""
    gguf_metadata(plan.new.spec)
    if like is None:
        llama_contents(plan.files, None)
    else:
        _like(plan.files, Path(expand_user(like)), None)


def _like(files: ModelFiles, like: Path, dtype: str | None) -> tuple[GGUFFile, list[Part], int]:
    """Return the header of the old model's GGUF file, its tensors with the adapted rows, and the number of rows."""
    header, old = gguf_tensors(like)
    if header.byte_order != "little":
        raise ModelFileError(f"{like}: its numbers are big-endian, and only little-endian ones are copied")
    tensors = [tensor for path in files.safetensors for tensor in safetensors_tensors(path)]
    matrices = find_matrices(files.name, files.config, tensors)
    inputs, outputs = _both(files, matrices.tensors)
    new = {EMBEDDING: inputs, OUTPUT: outputs or inputs}
    if EMBEDDING not in {tensor.name for tensor in old}:
        raise ModelFileError(f"{like} has no tensor {EMBEDDING}: it is not the GGUF file of a whole model")
    if (strange := unknown_matrix(old)) is not None:
        raise ModelFileError(f"{like}: its tensor {strange.name} has a row for each token, and isn't known here")
    parts = [
        _adapted(like, tensor, new[tensor.name], dtype or tensor.type)
        if tensor.name in new
        else copied(tensor, CODES[tensor.type])
        for tensor in old
    ]
    return header, parts, matrices.rows


def _both(files: ModelFiles, tensors: tuple[Tensor, ...]) -> tuple[Tensor, Tensor | None]:
    """Return the input and the output matrix; None for the second if they're tied. Raises ModelFileError for more."""
    names = {tensor.name for tensor in tensors}
    heads = [it for it in tensors if it.name.endswith(("lm_head.weight", "embed_out.weight"))]
    inputs = [it for it in tensors if it not in heads]
    if len(inputs) != 1 or len(heads) > 1:
        raise ModelFileError(f"{files.name}: {', '.join(sorted(names))}: it isn't known how GGUF stores more than two")
    return inputs[0], heads[0] if heads and files.config.get("tie_word_embeddings") is not True else None


def _adapted(like: Path, old: Tensor, new: Tensor, kind: str) -> Part:
    """Return an adapted matrix in a type of ggml's, quantized if that is. Raises ModelFileError, as `quantize` does."""
    if old.shape[1:] != new.shape[1:]:
        raise ModelFileError(f"{like}: its tensor {old.name} is {old.shape[1:]} wide, and {new.name} {new.shape[1:]}")
    if kind not in STORED:
        check_quantizes(kind)
    width = stored_type(new.type).itemsize * prod(new.shape[1:])

    def blocks() -> Iterator[bytes]:
        with new.path.open("rb") as file:
            step = max(1, CHUNK // width) * width
            for start in range(0, new.size, step):
                data = read_at(file, new, start, min(step, new.size - start))
                rows = np.frombuffer(data, stored_type(new.type)).reshape(-1, *new.shape[1:])
                yield from_float64(to_float64(rows, new.type), kind).tobytes()

    _, block, size = GGUF_BLOCKS[CODES[kind]]
    return Part(old.name, new.shape, CODES[kind], prod(new.shape) // block * size, blocks)
