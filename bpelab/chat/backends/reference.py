"""The reference backend: Llama in NumPy, written as plainly as possible, and fast enough to chat with a small model.

A token becomes a row of numbers, its embedding. Each layer adds to it twice: attention brings in information from
earlier tokens, and a small network (SwiGLU) transforms the row by itself. After the last layer the row is compared with
the row of every token in the vocabulary: the results are the logits. Keys and values of earlier tokens stay in two
arrays, the KV cache, so a new token only costs its own row. To drop the end of a prompt, count fewer rows as filled.

Chapter: A model answers. Cost per token: two operations per weight, plus O(cached ids) per layer for attention;
float32 throughout. Sources: Touvron et al. 2023 (Llama), Su et al. 2021 (RoPE), Zhang and Sennrich 2019 (RMSNorm),
Ainslie et al. 2023 (shared keys and values), Shazeer 2020 (SwiGLU); transformers `modeling_llama.py`, with which the
logits agree.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...errors import BackendError, ModelFileError
from .base import Backend
from .errors import check_memory, translating_load_errors, translating_run_errors
from .llama_config import read_model_shape
from .llama_weights import Array, Layer, LlamaFile

if TYPE_CHECKING:
    from ..models.find import ModelFiles


class ReferenceBackend(Backend):
    """Llama in NumPy, on the CPU. NumPy's own settings control the number of threads (OPENBLAS_NUM_THREADS)."""

    name = "reference"

    def __init__(self, files: "ModelFiles", context: int) -> None:
        self.shape = shape = read_model_shape(files)
        file = LlamaFile(files, shape)
        kv_bytes = shape.layers * 2 * shape.kv_heads * shape.head_dim * 4
        super().__init__(device="CPU", context=context, vocab_size=file.vocab_size, kv_bytes=kv_bytes)
        check_memory(files, file.memory, kv_bytes * context)
        self.weights = file.weights()
        angles = np.outer(np.arange(context, dtype=np.float32), np.tile(file.frequencies(), 2))
        self.cosines, self.sines = np.cos(angles), np.sin(angles)
        size = (shape.layers, shape.kv_heads, context, shape.head_dim)
        self.keys, self.values = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.filled = 0
        self.record: Callable[[Array, Array], None] | None = None
        """Called after each layer, if it is set: with the attention weights, of shape (heads, rows, cached rows), and
        with the rows as the layer leaves them."""

    def _keep(self, count: int) -> int:
        self.filled = count
        return count

    def _feed(self, ids: list[int]) -> Array:
        logits: Array = self._forward(ids, 1)[0]
        return logits

    def _feed_each(self, ids: list[int]) -> Array:
        return self._forward(ids, len(ids))

    def _forward(self, ids: list[int], count: int) -> Array:
        """Run the forward pass: rows for new ids, layer by layer, each attending to the cache and to itself.

        Return the logits after each of the last `count` ids.
        """
        with translating_run_errors("the reference backend"), np.errstate(all="ignore"):
            start, end = self.filled, self.filled + len(ids)
            turn = self.cosines[start:end], self.sines[start:end]
            future = np.triu(np.full((len(ids), end), -np.inf, np.float32), start + 1)  # a token sees none after it
            epsilon = self.shape.epsilon
            rows = self.weights.embedding[ids]
            for layer, keys, values in zip(self.weights.layers, self.keys, self.values):
                queries, keys[:, start:end], values[:, start:end] = self._project(rows, layer, turn)
                weights = attention_weights(queries, keys[:, :end], future)
                rows = rows + attend(weights, values[:, :end]) @ layer.output
                rows = rows + feed_forward(normalized(rows, layer.mlp_norm, epsilon), layer)
                if self.record is not None:
                    self.record(weights, rows)
            self.filled = end
            logits: Array = normalized(rows[-count:], self.weights.norm, epsilon) @ self.weights.head
            return logits

    def _project(self, rows: Array, layer: Layer, turn: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        """Return each row's queries and keys, with RoPE applied, and values, each of shape (heads, rows, head_dim)."""
        heads, kv_heads = self.shape.heads, self.shape.kv_heads
        mixed = normalized(rows, layer.attention_norm, self.shape.epsilon) @ layer.qkv + layer.qkv_bias
        by_head = mixed.reshape(len(rows), -1, self.shape.head_dim).swapaxes(0, 1)
        turned = rotated(by_head[: heads + kv_heads], *turn)
        return turned[:heads], turned[heads:], by_head[heads + kv_heads :]

    def _free(self) -> None:
        del self.weights, self.keys, self.values


def normalized(rows: Array, weight: Array, epsilon: float) -> Array:
    """Apply RMSNorm: scale each row to a mean square of 1, then multiply by the weights."""
    mean_square: Array = np.mean(rows * rows, axis=-1, keepdims=True)
    even: Array = rows / np.sqrt(mean_square + np.float32(epsilon))
    return even * weight


def rotated(heads: Array, cosines: Array, sines: Array) -> Array:
    """Apply RoPE: rotate each head's numbers in pairs, one from its first half and one from its second, by angles that
    grow with the position. The product of two rotated heads depends only on their distance, not on their positions."""
    half = heads.shape[-1] // 2
    across: Array = np.concatenate([-heads[..., half:], heads[..., :half]], axis=-1)
    return heads * cosines + across * sines


def attention_weights(queries: Array, keys: Array, future: Array) -> Array:
    """Return each query's weights for all keys, of shape (heads, rows, cached rows); each row adds up to 1.
    Neighbouring heads of queries may share one head of keys."""
    heads, rows, size = queries.shape
    grouped = queries.reshape(len(keys), -1, size)  # heads that share keys, one below the other: one product for all
    scores = (grouped @ keys.swapaxes(1, 2) / np.float32(np.sqrt(size))).reshape(heads, rows, -1) + future
    weights: Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def attend(weights: Array, values: Array) -> Array:
    """Apply attention: mix the values by each head's weights. Returns rows with the heads side by side."""
    heads, rows, cached = weights.shape
    mixed: Array = weights.reshape(len(values), -1, cached) @ values
    return mixed.reshape(heads, rows, -1).swapaxes(0, 1).reshape(rows, -1)


def feed_forward(rows: Array, layer: Layer) -> Array:
    """Apply SwiGLU: project each row up, scale each number by its gate, and project the result back down."""
    both: Array = rows @ layer.gate_up
    gate, up = both[:, : both.shape[1] // 2], both[:, both.shape[1] // 2 :]
    added: Array = (gate / (1 + np.exp(-gate)) * up) @ layer.down
    return added


def supports(files: "ModelFiles") -> str | None:
    """Return why the reference backend can't run a model, None if it can."""
    try:
        LlamaFile(files, read_model_shape(files))
    except ModelFileError as error:
        return str(error)
    return None


def open(
    files: "ModelFiles", *, context: int, gpu_layers: int | None, device: str | None, threads: int | None
) -> ReferenceBackend:
    """Load a model; `gpu_layers` and `threads` have no effect. Raises ModelFileError, BackendError."""
    if device not in (None, "cpu"):
        raise BackendError(f"the reference backend runs only on the CPU, not on {device!r}: omit the device")
    try:
        with translating_load_errors("the reference backend", files):
            return ReferenceBackend(files, context)
    except ModelFileError as error:
        raise ModelFileError(f"{files.name}: {error}") from error
