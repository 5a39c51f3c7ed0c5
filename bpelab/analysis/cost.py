"""The cost of tokens: the vocabulary's share of a model, how much text fits into memory or a context, and the price.

The cost of a token to a model follows from its `ModelShape`; the price follows from the reader's price list.

Chapter: Measuring.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import BPELabError
from .compression import Compression, ratio
from .shape import ModelShape
from .validate import require_integer, require_number


def vocabulary_share(shape: ModelShape, before: int = 1) -> tuple[float, float]:
    """Return the vocabulary's share of all weights, and of all operations per token, each 0 to 1.

    >>> [round(share, 2) for share in vocabulary_share(ModelShape(2, 4, 2, 16, 64, 256, 1000))]
    [0.51, 0.34]
    """
    weights, operations = shape.weights, shape.operations(before)
    return (
        (weights["embedding"] + weights["output"]) / sum(weights.values()),
        operations["output"] / sum(operations.values()),
    )


@dataclass(frozen=True)
class Capacity:
    """The amount of text that fits.

    Attributes:
        tokens: the number of whole tokens.
        words: the number of words in that many tokens, for text like the measured one.
        pages: the number of pages, at `words_per_page` words each.
    """

    tokens: int
    words: float
    pages: float


def memory_capacity(shape: ModelShape, memory: float, text: Compression, words_per_page: int = 300) -> Capacity:
    """Return how much text fits into `memory` bytes beside the weights; 0 if the weights don't fit.

    Each token takes the shape's `cache_bytes`; the text is assumed to be like the measured one. Raises BPELabError for
    invalid numbers, and if the measured text has no tokens.

    >>> from collections import Counter
    >>> memory_capacity(
    ...     ModelShape(2, 4, 2, 16, 64, 256, 1000), 1_000_000, Compression(900, 900, 200, Counter({7: 300}), 1000)
    ... )
    Capacity(tokens=1946, words=1297.3333333333333, pages=4.3244444444444445)
    """
    cache_memory = require_number("memory", memory) - shape.weight_bytes
    return context_capacity(max(0, int(cache_memory // shape.cache_bytes)), text, words_per_page)


def context_capacity(context: int, text: Compression, words_per_page: int = 300) -> Capacity:
    """Return how much text fits into a context of `context` tokens, for text like the measured one.

    Raises BPELabError as `memory_capacity` does.

    >>> from collections import Counter
    >>> context_capacity(900, Compression(900, 900, 200, Counter({7: 300}), 1000))
    Capacity(tokens=900, words=600.0, pages=2.0)
    """
    if not text.tokens:
        raise BPELabError("text has no tokens, so the number of words per token is unknown")
    words = require_integer("context", context, 0) * ratio(text.words, text.tokens)
    return Capacity(context, words, words / require_number("words_per_page", words_per_page, above=True))


def price(tokens: Mapping[str, int], prices: Mapping[str, float], per: int = 1_000_000) -> float:
    """Return the price of several kinds of tokens, in the currency of `prices`, which are per `per` tokens.

    bpelab ships no prices: they change, so the caller gives them. Raises BPELabError for a kind without a price, and
    for numbers that are negative or not finite.

    >>> price({"read": 30_000, "written": 2_000}, {"read": 2.0, "written": 10.0})
    0.08
    """
    if missing := tokens.keys() - prices.keys():
        raise BPELabError(f"there is no price for {', '.join(map(repr, sorted(missing)))} in prices")
    for kind, rate in prices.items():
        require_number(f"prices[{kind!r}]", rate)
    for kind, count in tokens.items():
        require_integer(f"tokens[{kind!r}]", count, 0)
    return sum(count * prices[kind] for kind, count in tokens.items()) / require_number("per", per, above=True)
