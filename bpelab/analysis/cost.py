"""What a token costs a model: weights, cache and arithmetic from the model's shape, money from the reader's prices.

A decoder of the usual kind is counted: attention whose keys and values may be shared by groups of heads, a feed-forward
part of three matrices (two where it isn't gated), an embedding, and an output matrix that may be the same. A multiply
and an add are two operations. Biases, norms, rotations and the softmax are left out; norms are less than a hundredth of
the weights of any shape in this book.

Chapter: Measuring. Source: Kaplan et al. 2020, table 1 (operations: two for each weight that a token meets, and
attention to what came before); Touvron et al. 2023 (the gated feed-forward part).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import BPELabError
from .compression import Compression, ratio


@dataclass(frozen=True)
class Shape:
    """The numbers of a model that its costs follow from.

    Attributes:
        layers, heads, kv_heads, head_size, hidden: as config.json has them; `hidden` is the length of a token's vector.
        feed_forward: the width of the feed-forward part.
        vocabulary: rows of the embedding.
        gated: whether the feed-forward part has three matrices (SwiGLU) and not two.
        tied: whether the output matrix is the embedding.
        bytes_per_weight: 2 for float16 and bfloat16; may be a fraction where weights are quantized.
        bytes_per_cached: of a number in the cache.

    Raises BPELabError for a number that is not positive.
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
            if not isinstance(value, bool) and not value > 0:
                raise BPELabError(f"{name} must be above 0, not {value!r}")

    @classmethod
    def from_config(cls, config: Mapping[str, Any], **changes: Any) -> "Shape":
        """The shape in a model's config.json; `changes` go first. Raises BPELabError where a number is missing.

        >>> Shape.from_config(
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
        try:
            heads = config["num_attention_heads"]
            found = {
                "layers": config["num_hidden_layers"],
                "heads": heads,
                "kv_heads": config.get("num_key_value_heads") or heads,
                "head_size": config.get("head_dim") or config["hidden_size"] // heads,
                "hidden": config["hidden_size"],
                "feed_forward": config["intermediate_size"],
                "vocabulary": config["vocab_size"],
                "tied": bool(config.get("tie_word_embeddings", False)),
            }
        except KeyError as error:
            raise BPELabError(f"the config has no {error.args[0]!r}, and it doesn't follow from the rest") from error
        return cls(**{**found, **changes})

    @property
    def weights(self) -> dict[str, int]:
        """How many weights each part has: "embedding", "attention", "feed-forward", "output" (0 where it is tied).

        >>> Shape(2, 4, 2, 16, 64, 256, 1000).weights
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
        """The memory of all weights."""
        return sum(self.weights.values()) * self.bytes_per_weight

    @property
    def cache_bytes(self) -> float:
        """What the cache keeps of one token: a key and a value in each layer.

        >>> Shape(32, 32, 8, 128, 4096, 14336, 128256).cache_bytes
        131072
        """
        return 2 * self.layers * self.kv_heads * self.head_size * self.bytes_per_cached

    def operations(self, before: int) -> dict[str, int]:
        """The operations for one token that has `before` tokens to look back at (itself included), by part.

        "attention" are the matrices, "looking back" the scores and the mix of values, and "output" the logits. The
        embedding is a lookup and costs none.

        >>> Shape(2, 4, 2, 16, 64, 256, 1000).operations(100)
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
        """The operations for a text of `tokens` tokens, each looking back at those before it.

        >>> shape = Shape(2, 4, 2, 16, 64, 256, 1000)
        >>> sum(shape.operations_for(3).values()) == sum(sum(shape.operations(n).values()) for n in (1, 2, 3))
        True
        """
        each, pairs = self.operations(0), tokens * (tokens + 1) // 2
        return {
            **{part: tokens * number for part, number in each.items()},
            "looking back": self.operations(pairs)["looking back"],
        }


def vocabulary_share(shape: Shape, before: int = 1) -> tuple[float, float]:
    """The part of all weights, and of all operations for a token, that is there because of the vocabulary.

    >>> [round(share, 2) for share in vocabulary_share(Shape(2, 4, 2, 16, 64, 256, 1000))]
    [0.51, 0.34]
    """
    weights, operations = shape.weights, shape.operations(before)
    return (
        (weights["embedding"] + weights["output"]) / sum(weights.values()),
        operations["output"] / sum(operations.values()),
    )


@dataclass(frozen=True)
class Room:
    """How much of a text fits.

    Attributes:
        tokens: whole ones.
        words: as many as these tokens make in the text that was measured.
        pages: of as many words as was said.
    """

    tokens: int
    words: float
    pages: float


def room(shape: Shape, memory: float, text: Compression, words_per_page: int = 300) -> Room:
    """What fits into `memory` bytes beside the weights, in text like the one measured. 0 where the weights don't fit.

    >>> from collections import Counter
    >>> room(Shape(2, 4, 2, 16, 64, 256, 1000), 1_000_000, Compression(900, 900, 200, Counter({7: 300}), 1000))
    Room(tokens=1946, words=1297.3333333333333, pages=4.3244444444444445)
    """
    tokens = max(0, int((memory - shape.weight_bytes) // shape.cache_bytes))
    words = tokens * ratio(text.words, text.tokens)
    return Room(tokens, words, words / words_per_page)


def price(tokens: Mapping[str, int], prices: Mapping[str, float], per: int = 1_000_000) -> float:
    """What tokens cost, by kind, in the currency of `prices`, which are for `per` tokens each.

    bpelab knows no prices: they change, and they are the reader's. Raises KeyError for a kind without a price.

    >>> price({"read": 30_000, "written": 2_000}, {"read": 2.0, "written": 10.0})
    0.08
    """
    if missing := tokens.keys() - prices.keys():
        raise KeyError(f"there is no price for {', '.join(sorted(missing))}")
    return sum(number * prices[kind] for kind, number in tokens.items()) / per
