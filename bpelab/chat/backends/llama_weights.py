"""The weights of a Llama, from safetensors or GGUF files, as float32 arrays laid out for multiplication.

Both formats hold the same numbers under different names, with one difference: llama.cpp permutes the rows of queries
and keys, since its RoPE turns neighbouring numbers where Hugging Face's turns the halves of a head. Shapes are compared
with the file's list before anything is read, so no more memory is allocated than the files can fill.

Chapter: A model answers. Cost: reads the weights once; four bytes of memory per weight. Sources: transformers
`modeling_llama.py`; llama.cpp `convert_hf_to_gguf.py`.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelFileError
from ..models.tensor_headers import Tensor, gguf_tensors, safetensors_tensors
from .llama_config import ModelShape

if TYPE_CHECKING:
    from ..models.find import ModelFiles

Array = NDArray[np.float32]
NAMES = {
    "embedding": ("model.embed_tokens", "token_embd"),
    "norm": ("model.norm", "output_norm"),
    "head": ("lm_head", "output"),
    "attention_norm": ("model.layers.{}.input_layernorm", "blk.{}.attn_norm"),
    "q": ("model.layers.{}.self_attn.q_proj", "blk.{}.attn_q"),
    "k": ("model.layers.{}.self_attn.k_proj", "blk.{}.attn_k"),
    "v": ("model.layers.{}.self_attn.v_proj", "blk.{}.attn_v"),
    "output": ("model.layers.{}.self_attn.o_proj", "blk.{}.attn_output"),
    "mlp_norm": ("model.layers.{}.post_attention_layernorm", "blk.{}.ffn_norm"),
    "gate": ("model.layers.{}.mlp.gate_proj", "blk.{}.ffn_gate"),
    "up": ("model.layers.{}.mlp.up_proj", "blk.{}.ffn_up"),
    "down": ("model.layers.{}.mlp.down_proj", "blk.{}.ffn_down"),
}
"""Tensor names in Hugging Face's files and in llama.cpp's."""
STORED = {"F32": "f4", "F16": "f2", "BF16": "u2"}
FACTORS = "rope_freqs.weight"
KNOWN = {f"{name}.weight" for names in NAMES.values() for name in names} | {FACTORS}
BIASES = {f"{name}.bias" for what in ("q", "k", "v") for name in NAMES[what]}


class Layer(NamedTuple):
    """One layer's weights. A matrix has a row for each input and a column for each output."""

    attention_norm: Array
    qkv: Array
    qkv_bias: Array
    output: Array
    mlp_norm: Array
    gate_up: Array
    down: Array


class Weights(NamedTuple):
    """All weights. `embedding` has a row for each token; `head` has a column for each."""

    embedding: Array
    layers: list[Layer]
    norm: Array
    head: Array


class LlamaFile:
    """The tensors of a Llama, by their names in NAMES."""

    def __init__(self, files: "ModelFiles", shape: ModelShape) -> None:
        self.shape, self.is_gguf, self.order = shape, not files.safetensors, "<"
        if files.safetensors:
            found = [tensor for path in files.safetensors for tensor in safetensors_tensors(path)]
        elif files.gguf is not None:
            header, found = gguf_tensors(files.gguf)
            self.order = "<" if header.byte_order == "little" else ">"
        self.tensors = {tensor.name: tensor for tensor in found}
        for tensor in found:
            if tensor.type not in STORED:
                kinds = ", ".join(STORED)
                raise ModelFileError(
                    f"its tensor {tensor.name} is {tensor.type}; the reference backend supports {kinds}"
                )
            plain = re.sub(r"\.\d+\.", ".{}.", tensor.name)
            if plain not in KNOWN and not (shape.biased and plain in BIASES) and not plain.endswith(".inv_freq"):
                raise ModelFileError(f"the reference backend doesn't know its tensor {tensor.name}")
        self.vocab_size = self.find("embedding").shape[0]
        self.memory = sum(tensor.size * (1 if tensor.type == "F32" else 2) for tensor in found)

    def find(self, what: str, layer: int = 0, kind: str = "weight") -> Tensor:
        """Return a tensor's place in its file. Raises ModelFileError if it's missing."""
        name = f"{NAMES[what][self.is_gguf].format(layer)}.{kind}"
        if name not in self.tensors:
            raise ModelFileError(f"its tensor {name} is missing")
        return self.tensors[name]

    def read(self, tensor: Tensor, *shape: int) -> Array:
        """Read a tensor's numbers. Raises ModelFileError if its shape isn't `shape`."""
        if tensor.shape != shape:
            raise ModelFileError(f"its tensor {tensor.name} has the shape {tensor.shape} instead of {shape}")
        stored = self.order + STORED[tensor.type]
        count = tensor.size // np.dtype(stored).itemsize
        numbers = np.fromfile(tensor.path, stored, count, offset=tensor.offset)
        if tensor.type == "BF16":  # the upper half of a float32
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        return numbers.astype(np.float32, copy=False).reshape(shape)

    def heads(self, what: str, layer: int, count: int, kind: str = "weight") -> Array:
        """Return the rows of `count` heads, or their biases, in Hugging Face's order."""
        width = () if kind == "bias" else (self.shape.hidden,)
        rows = self.read(self.find(what, layer, kind), count * self.shape.head_dim, *width)
        if not self.is_gguf or what == "v" or self.shape.biased:  # llama.cpp permutes only Llama's own
            return rows
        return rows.reshape(count, -1, 2, *width).swapaxes(1, 2).reshape(rows.shape)

    def frequencies(self) -> Array:
        """Return RoPE's frequencies, divided by the factors in GGUF files of Llama 3.1 and later."""
        if FACTORS not in self.tensors:
            return self.shape.frequencies
        return self.shape.frequencies / self.read(self.tensors[FACTORS], self.shape.head_dim // 2)

    def layer(self, number: int) -> Layer:
        """Read one layer's weights."""
        hidden, inner, heads = self.shape.hidden, self.shape.inner, self.shape.heads
        parts = (("q", heads), ("k", self.shape.kv_heads), ("v", self.shape.kv_heads))
        qkv = np.concatenate([self.heads(what, number, count) for what, count in parts])
        bias = np.zeros(len(qkv), np.float32)
        if self.shape.biased:
            bias = np.concatenate([self.heads(what, number, count, "bias") for what, count in parts])
        return Layer(
            self.read(self.find("attention_norm", number), hidden),
            _across(qkv),
            bias,
            _across(self.read(self.find("output", number), hidden, heads * self.shape.head_dim)),
            self.read(self.find("mlp_norm", number), hidden),
            _across(np.concatenate([self.read(self.find(what, number), inner, hidden) for what in ("gate", "up")])),
            _across(self.read(self.find("down", number), hidden, inner)),
        )

    def weights(self) -> Weights:
        """Read all weights. Raises ModelFileError, OSError, MemoryError."""
        table = (self.vocab_size, self.shape.hidden)
        embedding = self.read(self.find("embedding"), *table)
        tied = self.shape.tied or (self.is_gguf and "output.weight" not in self.tensors)
        head = embedding.T if tied else _across(self.read(self.find("head"), *table))
        layers = [self.layer(number) for number in range(self.shape.layers)]
        return Weights(embedding, layers, self.read(self.find("norm"), self.shape.hidden), head)


def _across(matrix: Array) -> Array:
    """Return the transpose, contiguous, so that rows can be multiplied with it from the left."""
    return np.ascontiguousarray(matrix.T)
