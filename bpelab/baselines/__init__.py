"""Baselines, from the start of the book: five other ways to split text into tokens, none of them byte-level BPE.

All share the interface of `common.Baseline`. They are for comparison; `BPETokenizer` is what the library recommends.
`FewestTokens` is for comparison too: it finds the segmentation with the fewest tokens of a BPE model. This package may
import the library. Begin with `schoolbook.py`.
"""

from .characters import CharacterTokenizer
from .common import Baseline
from .minimal_tokens import FewestTokens
from .schoolbook import SchoolbookBPE
from .unigram import UnigramTokenizer
from .wordpiece import WordPieceTokenizer
from .words import WordTokenizer

BASELINES: dict[str, type[Baseline]] = {
    "characters": CharacterTokenizer,
    "words": WordTokenizer,
    "schoolbook": SchoolbookBPE,
    "wordpiece": WordPieceTokenizer,
    "unigram": UnigramTokenizer,
}

__all__ = [
    "BASELINES",
    "CharacterTokenizer",
    "FewestTokens",
    "SchoolbookBPE",
    "UnigramTokenizer",
    "WordPieceTokenizer",
    "WordTokenizer",
]
