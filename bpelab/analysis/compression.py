"""Compression: the number of tokens of a text, in relation to its bytes, characters and words.

A number of tokens alone says nothing: a text is longer in one script than in another and in one unit than in another.
So each is related to a unit: bytes of UTF-8, characters (code points) or words. A word is a run of characters that are
not white space, as in `str.split()`; a clause of Chinese or Thai is then one word, and fertility says little there.

Chapter: Measuring. Cost: that of encoding the text.
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
"""The largest count, whose sums are still finite."""
ALPHA = 2.5
"""The order of Renyi's entropy that agreed best with translation quality in Zouhar et al. 2023."""


def ratio(above: float, below: float) -> float:
    """Return `above / below`, or NaN where `below` is 0.

    >>> ratio(6, 4), ratio(1, 0)
    (1.5, nan)
    """
    return above / below if below else math.nan


@dataclass(frozen=True)
class Compression:
    """The counts of one text under one tokenizer, and their ratios, which are NaN where the divisor is 0.

    Attributes:
        bytes: of the text in UTF-8.
        characters: code points.
        words: runs of characters that are not white space.
        uses: id -> how often it occurs in the encoding.
        vocabulary: how many tokens the tokenizer has.
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
        """Bytes of UTF-8 per token: higher is better. Comparable between tokenizers on one text, not between texts."""
        return ratio(self.bytes, self.tokens)

    @property
    def characters_per_token(self) -> float:
        """Code points per token."""
        return ratio(self.characters, self.tokens)

    @property
    def fertility(self) -> float:
        """Tokens per word, 1 at best. The tokens of white space and line ends are counted too."""
        return ratio(self.tokens, self.words)

    @property
    def used(self) -> int:
        """The number of different tokens that occur."""
        return len(self.uses)

    @property
    def share_used(self) -> float:
        """The fraction of the vocabulary that occurs, 0 to 1."""
        return ratio(self.used, self.vocabulary)

    @property
    def renyi_efficiency(self) -> float:
        """The Rényi efficiency of the tokens' uses, in the whole vocabulary; see `renyi_efficiency`."""
        return renyi_efficiency(self.uses.values(), self.vocabulary)


def compression(tokenizer: BPETokenizer, text: str) -> Compression:
    """Measure `text`. Special tokens in it are text, and none are added.

    >>> tokenizer = BPETokenizer.train("low lower lowest " * 9, 262)
    >>> tokenizer.tokenize("lower low")
    [b'low', b'e', b'r', b' low']
    >>> found = compression(tokenizer, "lower low")
    >>> found.tokens, found.words, found.bytes_per_token, found.fertility
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
