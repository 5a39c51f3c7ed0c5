"""One text in several languages, and how many tokens each of them pays for it.

The *premium* of a language is its number of tokens over that of a reference, on texts that say the same. Part of it is
none of the tokenizer's doing: languages differ in how many bytes of UTF-8 they need. So the premium in bytes stands
beside it, and the quotient of the two says what the tokenizer adds or takes away.

Chapter: Measuring. Cost: that of encoding. Source: Petrov et al. 2023 ("premium", "tokenizer parity").
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..tokenizer import BPETokenizer
from .compression import compression, ratio


@dataclass(frozen=True)
class Paid:
    """What one language pays. 1 is what the reference pays.

    Attributes:
        tokens: of the text.
        bytes: of the text, in UTF-8.
        premium: tokens, over the reference's tokens.
        byte_premium: bytes, over the reference's bytes.
    """

    tokens: int
    bytes: int
    premium: float
    byte_premium: float

    @property
    def tokenizer_premium(self) -> float:
        """The part of the premium that the bytes don't explain: the reference's bytes per token over this one's."""
        return ratio(self.premium, self.byte_premium)


def parity(tokenizer: BPETokenizer, texts: Mapping[str, str], reference: str) -> dict[str, Paid]:
    """What each language pays for a text that all of `texts` say, by the name that it has there.

    Raises KeyError where `reference` is none of the names. With an empty reference text premiums are NaN.

    >>> tokenizer = BPETokenizer.train("hello " * 9, 260)
    >>> found = parity(tokenizer, {"English": "hello", "Greek": "γεια"}, "English")
    >>> found["Greek"]
    Paid(tokens=8, bytes=8, premium=8.0, byte_premium=1.6)
    >>> found["Greek"].tokenizer_premium
    5.0
    """
    if reference not in texts:
        raise KeyError(f"the reference {reference!r} is none of {', '.join(texts)}")
    found = {name: compression(tokenizer, text) for name, text in texts.items()}
    base = found[reference]
    return {
        name: Paid(each.tokens, each.bytes, ratio(each.tokens, base.tokens), ratio(each.bytes, base.bytes))
        for name, each in found.items()
    }
