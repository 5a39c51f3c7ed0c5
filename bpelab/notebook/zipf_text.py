"""Synthetic text of any size with Zipf-distributed words: a few are everywhere, and new ones keep coming.

The word of rank r has a frequency proportional to (r + Q) ** -S, the Zipf-Mandelbrot law, with no last rank. The first
ranks are the words of the book's text, most frequent first; the others are made of syllables that spell the rank. The
same seed gives the same text on every machine with the same NumPy.

Chapter: More than one machine. Cost: some 0.1 s for a megabyte. Source: Mandelbrot's form of Zipf's law.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from .._support.numpy_import import np
from .live_source import book_text

S, Q = 1.35, 6.0
CHUNK = 200_000
"""How many words are drawn at once."""
MAX_RANK = 1 << 50
_STARTS = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "sh", "tr"]
_SYLLABLES = [start + vowel for start in _STARTS for vowel in "aeiou"]


@lru_cache(1)
def _book_words() -> list[str]:
    counts = Counter(re.findall(r"[a-z]+", book_text().lower()))
    return sorted(counts, key=lambda word: (-counts[word], word))


def word(rank: int) -> str:
    """Return the word of a rank, counted from 0.

    >>> word(0), word(10**6)
    ('the', 'bakatrebex')
    """
    if rank < len(_book_words()):
        return _book_words()[rank]
    spelled = ""
    while rank:
        rank, digit = divmod(rank, len(_SYLLABLES))
        spelled += _SYLLABLES[digit]
    return spelled + "x"


def zipf_text(size: int, seed: int = 0) -> Iterator[str]:
    """Yield parts of a text of about `size` characters in total.

    >>> sum(map(len, zipf_text(100_000))) // 1000
    100
    """
    random = np.random.default_rng(seed)
    while size > 0:
        drawn = Q * random.random(CHUNK) ** (-1 / (S - 1)) - Q
        ranks, offsets = np.unique(np.minimum(drawn, MAX_RANK).astype(np.int64), return_inverse=True)
        words = np.array([word(rank) for rank in ranks.tolist()], object)[offsets]
        words[14::15] += ".\n"
        text = " ".join(words.tolist())[:size]
        size -= len(text)
        yield text
