"""What tokens cost: the vocabulary's part of a model, how much text fits into a memory or a context, money.

What a token costs a model follows from the model's `Shape`, and money from the reader's prices. Chapter: Measuring.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import BPELabError
from .checks import integer, number
from .compression import Compression, ratio
from .shape import Shape


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

    Raises BPELabError for numbers that are none, and for a text that has no tokens.

    >>> from collections import Counter
    >>> room(Shape(2, 4, 2, 16, 64, 256, 1000), 1_000_000, Compression(900, 900, 200, Counter({7: 300}), 1000))
    Room(tokens=1946, words=1297.3333333333333, pages=4.3244444444444445)
    """
    left = number("memory", memory) - shape.weight_bytes
    return context_room(max(0, int(left // shape.cache_bytes)), text, words_per_page)


def context_room(context: int, text: Compression, words_per_page: int = 300) -> Room:
    """What fits into a context of as many tokens, in text like the one measured. Raises BPELabError, as `room` does.

    >>> from collections import Counter
    >>> context_room(900, Compression(900, 900, 200, Counter({7: 300}), 1000))
    Room(tokens=900, words=600.0, pages=2.0)
    """
    if not text.tokens:
        raise BPELabError("text has no tokens, so nothing says how many words a token is")
    words = integer("context", context, 0) * ratio(text.words, text.tokens)
    return Room(context, words, words / number("words_per_page", words_per_page, above=True))


def price(tokens: Mapping[str, int], prices: Mapping[str, float], per: int = 1_000_000) -> float:
    """What tokens cost, by kind, in the currency of `prices`, which are for `per` tokens each.

    bpelab knows no prices: they change, and they are the reader's. Raises BPELabError for a kind without a price, and
    for numbers that are negative or none.

    >>> price({"read": 30_000, "written": 2_000}, {"read": 2.0, "written": 10.0})
    0.08
    """
    if missing := tokens.keys() - prices.keys():
        raise BPELabError(f"there is no price for {', '.join(map(repr, sorted(missing)))} in prices")
    for kind, rate in prices.items():
        number(f"prices[{kind!r}]", rate)
    for kind, count in tokens.items():
        integer(f"tokens[{kind!r}]", count, 0)
    return sum(count * prices[kind] for kind, count in tokens.items()) / number("per", per, above=True)
