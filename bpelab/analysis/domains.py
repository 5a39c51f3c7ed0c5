"""Domain shift: how much compression a tokenizer loses on text unlike its training text.

Chapter: Measuring. Cost: encoding both texts.
"""

from dataclasses import dataclass

from ..tokenizer import BPETokenizer
from .compression import Compression, compression, ratio


@dataclass(frozen=True)
class DomainShift:
    """The compression of one tokenizer on two texts.

    Attributes:
        home: on text of the kind it was trained on.
        away: on text of another kind.
    """

    home: Compression
    away: Compression

    @property
    def loss(self) -> float:
        """The fraction of bytes per token lost away from home: 0.25 means a quarter fewer, a negative value a gain."""
        return 1 - ratio(self.away.bytes_per_token, self.home.bytes_per_token)


def domain_shift(tokenizer: BPETokenizer, home: str, away: str) -> DomainShift:
    """Measure both texts. To compare two tokenizers, use the same texts: texts differ in how well they compress.

    >>> tokenizer = BPETokenizer.train("the harbour " * 9, 266)
    >>> shift = domain_shift(tokenizer, "the harbour", "if (x) { y(); }")
    >>> shift.home.bytes_per_token, shift.away.bytes_per_token
    (5.5, 1.0)
    >>> round(shift.loss, 2)
    0.82
    """
    return DomainShift(compression(tokenizer, home), compression(tokenizer, away))
