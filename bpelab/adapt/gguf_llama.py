"""The contents of a GGUF file for a Llama or a Qwen2, made from its safetensors.

Chapter: New words for an old model. Cost: memory for a tensor in float32.
Source: llama.cpp `conversion/llama.py` and `conversion/base.py` for names, the order of rows, and types.
"""

import re
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path

import numpy as np

from ..chat.backends.llama_config import ModelShape, read_model_shape
from ..chat.backends.llama_weights import FACTORS, NAMES, Array, LlamaFile
from ..chat.models.find import ModelFiles
from ..chat.models.tensor_headers import Tensor
from .gguf_file import Metadata, Part
from .numbers import from_float64, stored_type
from .quantized import CODES

FILE_TYPES = {"F32": 0, "F16": 1, "BF16": 32}
"""The type numbers of files whose matrices have that type."""
BLOCK = 1024


def llama_contents(files: ModelFiles, dtype: str | None) -> tuple[Metadata, list[Part], int]:
    """Return the keys but for the vocabulary, the tensors, and the number of rows. Raises ModelFileError."""
    shape = read_model_shape(files)
    file = LlamaFile(files, shape)
    kind = dtype or file.find("embedding").type
    architecture = "qwen2" if files.architecture == "qwen2" else "llama"
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
    metadata = {f"{architecture}.{key}": value for key, value in {**sizes, **numbers}.items()} | {
        "general.architecture": architecture,
        "general.type": "model",
        "general.name": Path(files.name).name,
        "general.file_type": FILE_TYPES[kind],
    }
    types = {f"{architecture}.{key}": "uint32" for key in sizes} | {"general.file_type": "uint32"}
    types |= {f"{architecture}.{key}": "float32" for key in numbers}
    parts = [
        _part(name, read, size, kind)
        for name, size, read in _llama_tensors(file, shape, float(numbers["rope.freq_base"]))
    ]
    return (metadata, types), parts, file.vocab_size


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

    return Part(name, shape, CODES[kind], prod(shape) * stored_type(kind).itemsize, blocks)
