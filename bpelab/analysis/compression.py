"""Compression: a text's number of tokens, relative to its bytes, characters and words.

A token count alone says nothing: how long a text is depends on its script and on the unit. So each count is related to
a unit: UTF-8 bytes, characters (code points) or words. A word is a run of non-space characters, as in `str.split()`. A
clause of Chinese or Thai is then a single word, and fertility says little there.

Chapter: Measuring. Cost: encoding the text.
Source of Renyi efficiency: Zouhar et al. 2023, "Tokenization and the Noiseless Channel", and their tokenization-scorer.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .._support.lazy_property import cached_property
from .._support.textio import utf8, valid_text
from ..tokenizer import BPETokenizer

MAX_COUNT = 1e300
"""The largest count allowed, so that sums stay finite."""
ALPHA = 2.5
"""The order of the Rényi entropy that agreed best with translation quality in Zouhar et al. 2023."""


def ratio(above: float, below: float) -> float:
    """Return `above / below`, or NaN if `below` is 0.

    >>> ratio(6, 4), ratio(1, 0)
    (1.5, nan)
    """
    return above / below if below else math.nan


@dataclass(frozen=True)
class Compression:
    """The counts for one text under one tokenizer, and their ratios; a ratio is NaN if its divisor is 0.

    Attributes:
        bytes: the text's length in UTF-8.
        characters: code points.
        words: runs of non-space characters.
        uses: id -> number of occurrences in the encoding.
        vocabulary: the tokenizer's number of tokens.
    """

    bytes: int
    characters: int
    words: int
    uses: Counter[int]
    vocabulary: int

    @cached_property
    def tokens(self) -> int:
        """Return the number of tokens."""
        return self.uses.total()

    @property
    def bytes_per_token(self) -> float:
        """UTF-8 bytes per token: higher is better. Compare tokenizers on one text, not one tokenizer on two texts."""
        return ratio(self.bytes, self.tokens)

    @property
    def characters_per_token(self) -> float:
        """Code points per token."""
        return ratio(self.characters, self.tokens)

    @property
    def fertility(self) -> float:
        """Tokens per word, 1 at best. Tokens for white space and line ends count too."""
        return ratio(self.tokens, self.words)

    @property
    def distinct_tokens(self) -> int:
        """The number of distinct tokens that occur."""
        return len(self.uses)

    @property
    def share_used(self) -> float:
        """The fraction of the vocabulary that occurs, 0 to 1."""
        return ratio(self.distinct_tokens, self.vocabulary)

    @property
    def renyi_efficiency(self) -> float:
        """The Rényi efficiency of the token counts, over the whole vocabulary; see `renyi_efficiency`."""
        return renyi_efficiency(self.uses.values(), self.vocabulary)


def compression(tokenizer: BPETokenizer, text: str) -> Compression:
    """Measure `text`. Special tokens in it count as plain text, and none are added.

    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    >>> tokenizer.tokenize("lower low")
    [b'low', b'e', b'r', b' low']
    >>> measures = compression(tokenizer, "lower low")
    >>> measures.tokens, measures.words, measures.bytes_per_token, measures.fertility
    (4, 2, 2.25, 2.0)
    """
    text = valid_text(text)
    uses = Counter(tokenizer.encode(text, add_special_tokens=False))
    return Compression(len(utf8(text)), len(text), len(text.split()), uses, len(tokenizer))


def renyi_efficiency(counts: Iterable[int], vocabulary: int, alpha: float = ALPHA) -> float:
    """Return how evenly tokens are used: Rényi entropy of order `alpha`, over its maximum for `vocabulary` tokens.

    With p the share of each token, H = log(sum p ** alpha) / (1 - alpha), and the efficiency is H / log(vocabulary).
    For alpha = 1 H is Shannon's entropy. 1 where all are used equally often, near 0 where one is used nearly always.
    The higher alpha, the more the most frequent tokens decide.

    For alpha = infinity H is the min-entropy, which the most frequent token decides alone.

    NaN without tokens, or with a vocabulary of one. Raises ValueError for an `alpha` or a count that is negative or
    NaN, and for a vocabulary of fewer tokens than are counted.

    >>> renyi_efficiency([5, 5, 5, 5], 4), round(renyi_efficiency([5, 5, 5, 5], 16), 3)
    (1.0, 0.5)
    >>> round(renyi_efficiency([12, 1, 1, 2], 4), 3), round(renyi_efficiency([12, 1, 1, 2], 4, 1), 3)
    (0.339, 0.593)
    """
    if not alpha >= 0:
        raise ValueError(f"alpha must be a number of at least 0, not {alpha}")
    each = [count for count in counts if count]
    if bad := [count for count in each if not 0 < count <= MAX_COUNT]:
        raise ValueError(f"counts must be from 0 to {MAX_COUNT}, not {bad[0]}")
    if len(each) > vocabulary:
        raise ValueError(f"counts are of {len(each):,} tokens, and the vocabulary has {vocabulary:,}")
    if not each or vocabulary < 2:
        return math.nan
    log_total = math.log(sum(each))
    logs = [math.log(count) - log_total for count in each]  # of the shares, whose powers may be too small for a float
    most = max(logs)
    if alpha == 1:
        entropy = -sum(math.exp(log) * log for log in logs)
    elif alpha == math.inf:
        entropy = -most
    else:
        over = math.log(sum(math.exp(alpha * (log - most)) for log in logs))
        entropy = -most - (most + over) / (alpha - 1)
    return min(entropy / math.log(vocabulary), 1.0) + 0.0  # rounded neither above 1 nor to -0.0
