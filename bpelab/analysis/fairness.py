"""Tokenization premiums: how many tokens each language pays for the same text.

The *premium* of a language is its token count divided by that of a reference, on parallel texts. Part of it isn't the
tokenizer's doing: languages differ in how many UTF-8 bytes they need. So the premium in bytes is measured too, and the
quotient of the two is what the tokenizer adds or takes away.

Chapter: Measuring. Cost: encoding the texts. Source: Petrov et al. 2023 ("premium", "tokenizer parity").
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..tokenizer import BPETokenizer
from .compression import compression, ratio


@dataclass(frozen=True)
class TokenPremium:
    """The premium of one language; the reference has 1.

    Attributes:
        tokens: tokens of the text.
        bytes: bytes of the text, in UTF-8.
        premium: tokens divided by the reference's tokens.
        byte_premium: bytes divided by the reference's bytes.
    """

    tokens: int
    bytes: int
    premium: float
    byte_premium: float

    @property
    def tokenizer_premium(self) -> float:
        """The premium divided by the byte premium: the reference's bytes per token over this language's."""
        return ratio(self.premium, self.byte_premium)


def tokenization_premiums(tokenizer: BPETokenizer, texts: Mapping[str, str], reference: str) -> dict[str, TokenPremium]:
    """Return the premium of each language, by its name in `texts`, which are translations of one another.

    Raises KeyError if `reference` isn't one of the names. With an empty reference text, premiums are NaN.

    >>> tokenizer = BPETokenizer.train("hello " * 9, 260)
    >>> premiums = tokenization_premiums(tokenizer, {"English": "hello", "Greek": "γεια"}, "English")
    >>> premiums["Greek"]
    TokenPremium(tokens=8, bytes=8, premium=8.0, byte_premium=1.6)
    >>> premiums["Greek"].tokenizer_premium
    5.0
    """
    if reference not in texts:
        raise KeyError(f"the reference {reference!r} is not one of {', '.join(texts)}")
    compressions = {name: compression(tokenizer, text) for name, text in texts.items()}
    base = compressions[reference]
    return {
        name: TokenPremium(each.tokens, each.bytes, ratio(each.tokens, base.tokens), ratio(each.bytes, base.bytes))
        for name, each in compressions.items()
    }
