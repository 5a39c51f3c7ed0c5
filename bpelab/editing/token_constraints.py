"""Token constraints: limits that a vocabulary's tokens obey although no pre-tokenizer enforces them.

SentencePiece's trainer cuts words, and often digits, before it merges, and its files don't say so: there is no
pre-tokenizer. SuperBPE's tokens have a limit on words, and none contains `: `. Continued training must not break such
rules, so they are inferred from the existing tokens.

Chapter: New words for an old model. Cost: linear in the tokens.
Source: `split_by_whitespace` and `split_digits` of sentencepiece's trainer; the limits of `superwords.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..core.derivations import Derivations
from ..core.spec import TokenizerSpec
from ..trainers.train import at_least_one

SPACE = "▁".encode()
COLON = b": "
_DIGITS = re.compile(rb"[0-9]+")


class TokenConstraints(NamedTuple):
    """Limits on new tokens.

    Attributes:
        words: the most words in a token; None for any number. Words are separated by spaces or `▁`.
        digits: the most ASCII digits in a row; None for any number.
        colon: whether a token may contain a colon followed by a space.

    >>> TokenConstraints(words=1, digits=2).allow("▁of".encode()), TokenConstraints(words=1).allow("▁of▁the".encode())
    (True, False)
    """

    words: int | None = None
    digits: int | None = None
    colon: bool = True

    @staticmethod
    def of(spec: TokenizerSpec, derived: Derivations, max_words: int | None = None) -> TokenConstraints:
        """Return the limits that a tokenizer's tokens obey, unless something else enforces them.

        With a pattern that cuts words no limits are needed, and byte tokens without a pre-tokenizer have none.
        `max_words` is another limit on words; raises TrainingError if it is below 1.
        """
        if max_words is not None:
            at_least_one("max_words", max_words)
        model = spec.model
        tokens = [model.tokens[token_id] for token_id in derived.parts]
        words = max(map(_words, tokens), default=0)
        if spec.pre_tokenizer is None and not spec.is_byte_level and tokens:
            return TokenConstraints(max_words or max(words, 1), max(map(_digits, tokens)) or 1)
        split = None if spec.pre_tokenizer is None else spec.pre_tokenizer.as_single_split
        if split is not None and not split.cuts_words and words > 1:  # superwords
            return TokenConstraints(max_words or words, colon=any(COLON in token for token in tokens))
        return TokenConstraints(max_words)

    def allow(self, token: bytes) -> bool:
        """Return whether a token obeys the limits."""
        return (
            (self.words is None or _words(token) <= self.words)
            and (self.digits is None or _digits(token) <= self.digits)
            and (self.colon or COLON not in token)
        )


def _words(token: bytes) -> int:
    return len(token.replace(SPACE, b" ").split())


def _digits(token: bytes) -> int:
    return max(map(len, _DIGITS.findall(token)), default=0)
