"""The tour of chapter 2: five ways to cut text into tokens, each small, complete, and not byte-level BPE.

All have the same small surface: `train(corpus, vocab_size)`, `encode`, `decode`, `tokens`, `unknown_count`, `len`, and
`vocabulary`. They are here to be compared with; `BPETokenizer` is what the library recommends.

`FewestTokens` stands beside them: the best cut that there is with the tokens of a BPE model.
"""

from .characters import CharacterTokenizer
from .fewest import FewestTokens
from .schoolbook import SchoolbookBPE
from .unigram import UnigramTokenizer
from .wordpiece import WordPieceTokenizer
from .words import WordTokenizer

Baseline = CharacterTokenizer | WordTokenizer | SchoolbookBPE | WordPieceTokenizer | UnigramTokenizer

BASELINES: dict[str, type[Baseline]] = {
    "characters": CharacterTokenizer,
    "words": WordTokenizer,
    "schoolbook": SchoolbookBPE,
    "wordpiece": WordPieceTokenizer,
    "unigram": UnigramTokenizer,
}

__all__ = [
    "BASELINES",
    "Baseline",
    "CharacterTokenizer",
    "FewestTokens",
    "SchoolbookBPE",
    "UnigramTokenizer",
    "WordPieceTokenizer",
    "WordTokenizer",
]
