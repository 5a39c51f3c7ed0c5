"""The shape of a decoder-only transformer, and the weights, cache and operations that follow from it.

The model counted is the usual decoder: grouped-query attention (groups of heads may share keys and values), a
feed-forward part of three matrices (two if it isn't gated), an embedding, and an output matrix that may be tied to it.
A multiply and an add are two operations. Biases, norms, rotations, learned positions and the softmax are left out;
norms are less than a hundredth of the weights of any shape in this book.

Chapter: Measuring. Source: Kaplan et al. 2020, table 1 (operations: two for each weight a token meets, and attention to
the tokens before it); Touvron et al. 2023 (the gated feed-forward part).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import BPELabError
from .validate import require_integer, require_number

CONFIG_KEYS = {
    "layers": ("num_hidden_layers", "n_layer"),
    "heads": ("num_attention_heads", "n_head"),
    "hidden": ("hidden_size", "n_embd"),
    "feed_forward": ("intermediate_size", "n_inner"),
    "vocabulary": ("vocab_size",),
    "kv_heads": ("num_key_value_heads",),
    "head_size": ("head_dim",),
    "tied": ("tie_word_embeddings",),
}
"""The config.json keys for each field of a shape: the usual name, and GPT-2's."""


@dataclass(frozen=True)
class ModelShape:
    """The sizes of a model that determine its cost.

    Attributes:
        layers, heads, kv_heads, head_size, hidden: as in config.json; `hidden` is the length of a token's vector.
        feed_forward: the width of the feed-forward part.
        vocabulary: rows of the embedding.
        gated: whether the feed-forward part has three matrices (SwiGLU) rather than two.
        tied: whether the output matrix is the embedding.
        bytes_per_weight: 2 for float16 and bfloat16; may be a fraction for quantized weights.
        bytes_per_cached: bytes per number in the cache.

    Raises BPELabError for a number that isn't positive, and for a fraction other than a number of bytes.
    """

    layers: int
    heads: int
    kv_heads: int
    head_size: int
    hidden: int
    feed_forward: int
    vocabulary: int
    gated: bool = True
    tied: bool = False
    bytes_per_weight: float = 2
    bytes_per_cached: float = 2

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name in ("gated", "tied"):
                if not isinstance(value, bool):
                    raise BPELabError(f"{name} must be True or False, not {value!r}")
            elif name.startswith("bytes_"):
                require_number(name, value, above=True)
            else:
                require_integer(name, value)

    @classmethod
    def from_config(cls, config: Mapping[str, Any], **changes: Any) -> "ModelShape":
        """Return the shape in a model's config.json; `changes` override its values.

        With GPT-2's names the feed-forward part has two matrices, by default four times as wide as the model, and the
        output is tied by default. For a multimodal model, "text_config" is read.
        Raises BPELabError if a value is missing or isn't a number.

        >>> ModelShape.from_config(
        ...     {
        ...         "num_hidden_layers": 2,
        ...         "num_attention_heads": 4,
        ...         "hidden_size": 64,
        ...         "intermediate_size": 256,
        ...         "vocab_size": 1000,
        ...     }
        ... ).head_size
        16
        """
        if isinstance(text := config.get("text_config"), Mapping):
            config = {**config, **text}
        values = {
            name: config[key]
            for name, keys in CONFIG_KEYS.items()
            for key in reversed(keys)
            if config.get(key) is not None
        }
        values |= changes
        for name in ("hidden", "layers", "heads", "vocabulary"):
            if name not in values:
                raise BPELabError(f"the config has no {' and no '.join(map(repr, CONFIG_KEYS[name]))}")
            require_integer(name, values[name])
        if "n_embd" in config:
            values = {"gated": False, "tied": True, "feed_forward": 4 * values["hidden"], **values}
        if "feed_forward" not in values:
            raise BPELabError("the config has no 'intermediate_size', and it doesn't follow from the rest")
        return cls(**{"kv_heads": values["heads"], "head_size": values["hidden"] // values["heads"], **values})

    @property
    def weights(self) -> dict[str, int]:
        """How many weights each part has: "embedding", "attention", "feed-forward", "output" (0 where it is tied).

        >>> ModelShape(2, 4, 2, 16, 64, 256, 1000).weights
        {'embedding': 64000, 'attention': 24576, 'feed-forward': 98304, 'output': 64000}
        """
        attention = (
            2 * self.hidden * self.head_size * (self.heads + self.kv_heads)
        )  # queries and output, keys and values
        matrices = 3 if self.gated else 2
        table = self.vocabulary * self.hidden
        return {
            "embedding": table,
            "attention": self.layers * attention,
            "feed-forward": self.layers * matrices * self.hidden * self.feed_forward,
            "output": 0 if self.tied else table,
        }

    @property
    def weight_bytes(self) -> float:
        """The memory of all weights, in bytes."""
        return sum(self.weights.values()) * self.bytes_per_weight

    @property
    def cache_bytes(self) -> float:
        """Bytes in the cache for one token: a key and a value in each layer.

        >>> ModelShape(32, 32, 8, 128, 4096, 14336, 128256).cache_bytes
        131072
        """
        return 2 * self.layers * self.kv_heads * self.head_size * self.bytes_per_cached

    def operations(self, before: int) -> dict[str, int]:
        """Return the operations for one token that attends to `before` tokens (itself included), by part.

        "attention" is the projections, "looking back" the scores and the weighted values, and "output" the logits. The
        embedding is a lookup and costs none.

        >>> ModelShape(2, 4, 2, 16, 64, 256, 1000).operations(100)
        {'attention': 49152, 'looking back': 51200, 'feed-forward': 196608, 'output': 128000}
        """
        weights = self.weights
        return {
            "attention": 2 * weights["attention"],
            "looking back": 4 * self.layers * self.heads * self.head_size * before,
            "feed-forward": 2 * weights["feed-forward"],
            "output": 2 * self.vocabulary * self.hidden,
        }

    def operations_for(self, tokens: int) -> dict[str, int]:
        """Return the operations for a text of `tokens` tokens, each attending to itself and those before it.

        >>> shape = ModelShape(2, 4, 2, 16, 64, 256, 1000)
        >>> sum(shape.operations_for(3).values()) == sum(sum(shape.operations(n).values()) for n in (1, 2, 3))
        True
        """
        each, pairs = self.operations(0), tokens * (tokens + 1) // 2
        return {
            **{part: tokens * number for part, number in each.items()},
            "looking back": self.operations(pairs)["looking back"],
        }
