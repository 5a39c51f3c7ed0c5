"""Tokenization premiums: the tokens that each language pays for the same text.

The *premium* of a language is its number of tokens over that of a reference, on texts that say the same. Part of it is
not due to the tokenizer: languages differ in how many bytes of UTF-8 they need. So the premium in bytes is
measured too, and the quotient of the two is what the tokenizer adds or takes away.

Chapter: Measuring. Cost: that of encoding. Source: Petrov et al. 2023 ("premium", "tokenizer parity").
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..tokenizer import BPETokenizer
from .compression import compression, ratio


@dataclass(frozen=True)
class TokenPremium:
    """The premium of one language; 1 is what the reference pays.

    Attributes:
        tokens: tokens of the text.
        bytes: bytes of the text, in UTF-8.
        premium: tokens, over the reference's tokens.
        byte_premium: bytes, over the reference's bytes.
    """

    tokens: int
    bytes: int
    premium: float
    byte_premium: float

    @property
    def tokenizer_premium(self) -> float:
        """The premium over the premium in bytes: the reference's bytes per token over this language's."""
        return ratio(self.premium, self.byte_premium)


def tokenization_premiums(tokenizer: BPETokenizer, texts: Mapping[str, str], reference: str) -> dict[str, TokenPremium]:
    """Return the premium of each language, by its name in `texts`, which all say the same.

    Raises KeyError where `reference` is not one of the names. With an empty reference text premiums are NaN.

    >>> tokenizer = BPETokenizer.train("hello " * 9, 260)
    >>> found = tokenization_premiums(tokenizer, {"English": "hello", "Greek": "γεια"}, "English")
    >>> found["Greek"]
    TokenPremium(tokens=8, bytes=8, premium=8.0, byte_premium=1.6)
    >>> found["Greek"].tokenizer_premium
    5.0
    """
    if reference not in texts:
        raise KeyError(f"the reference {reference!r} is not one of {', '.join(texts)}")
    found = {name: compression(tokenizer, text) for name, text in texts.items()}
    base = found[reference]
    return {
        name: TokenPremium(each.tokens, each.bytes, ratio(each.tokens, base.tokens), ratio(each.bytes, base.bytes))
        for name, each in found.items()
    }
