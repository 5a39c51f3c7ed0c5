"""Find which of llama.cpp's named pre-tokenizers cuts every text as a given pre-tokenizer does.

A GGUF file refers to its split patterns by name, so a tokenizer can be written only if some name means the same
patterns. Equal spellings are equal patterns. Otherwise, a few thousand short texts are cut with each name's patterns,
and almost all names fail early. For the rest, the automata decide (`regex/equivalence.py`): if each step of two
sequences is proved to cut every text alike, the sequences do; two single patterns are either proved equal or refuted
by a shortest text. For sequences of different lengths there is no such proof: then the texts are the only evidence.

Chapter: File formats. Cost: a second or two if no spelling is equal, mostly for compiling llama.cpp's patterns.
Source: llama.cpp `src/llama-vocab.cpp`, for the patterns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from ..pretokenizers.base import PreTokenizer
from ..pretokenizers.byte_level import ByteLevel
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split import Split
from ..regex.dfa import NotRegular
from ..regex.equivalence import PatternDifference, compare_patterns
from ..regex.patterns import find_pattern
from ..unicode.byte_alphabet import to_alphabet
from .gguf_pre_tokenizers import gguf_pre, names_for, with_all_spaces

CHARACTERS = " a1\n'sA.日\u0301\r\té²_/$\u00a0กǅ"
"""A character of most kinds that published patterns distinguish, the most telling first."""
SIZES = ((20, 2), (11, 3), (6, 4))
"""(n, length): every text of that length over the first n of CHARACTERS is tried."""
LONGER = (
    "it's IT'S 'll 'VE", "12345678 a12345", "1234567 89", "x = {'a': 1};", "...\n\n b", "a\n \n  b", "    a", "\t\ta",
    "snake_case camelCase HTTPServer", "https://a.b/c?d=1&e", "$$$ +1 <= ~x", "a\u0301b e\u0301\u0301", "γδΑΒ",
    "½² ١٢٣٤", "日本語かなカナ", "漢字かな漢 a漢b", "한국어 漢字", "การ ทด", "<sentinel:1>(IMGIMG)AZ",
)  # fmt: skip


@dataclass(frozen=True)
class GGUFPreMatch:
    """The names that `find_gguf_pre` found, and why.

    Attributes:
        names: llama.cpp's names for pre-tokenizers that cut every text alike, the best known first.
        basis: "spelling", "proof" or "search"; "" if there is no such name.
        nearest: if there is no such name, the one that cuts the most texts alike before the first difference; else "".
        difference: that difference: the pieces here, and those of the nearest.
    """

    names: tuple[str, ...]
    basis: str = ""
    nearest: str = ""
    difference: PatternDifference | None = None

    @property
    def reason(self) -> str:
        """The basis, in words."""
        reasons = {
            "spelling": "the same patterns",
            "proof": "proved to cut every text alike",
            "search": f"cuts {len(_texts()):,} texts alike, which is no proof",
        }
        return reasons.get(self.basis, "")

    def __str__(self) -> str:
        if not self.names:
            return f"none; the nearest is {self.nearest}, but {self.difference}"
        others = f"; also called {', '.join(self.names[1:])}" if self.names[1:] else ""
        return f"{self.names[0]} ({self.reason}{others})"


@lru_cache(8)
def find_gguf_pre(pre_tokenizer: PreTokenizer | None) -> GGUFPreMatch:
    r"""Return which of llama.cpp's named pre-tokenizers for byte-level models cut every text the same way.

    A name means the patterns in llama.cpp's source: its own and, where it has them, the model's.
    `GGUFPre.is_approximation` says whether llama.cpp only approximates them.

    >>> str(find_gguf_pre(Split("qwen3.5")))
    'qwen35 (the same patterns)'
    >>> match = find_gguf_pre(Split(r"'(?:[sdmt]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\p{N}\s\p{L}]+|\s+(?!\S)|\s+"))
    >>> match.names[0], match.basis
    ('gpt-2', 'proof')
    >>> find_gguf_pre(Split(r"\p{N}{1,4}|[^\p{N}]+")).names
    ()
    """
    if same := names_by_spelling(pre_tokenizer):
        return GGUFPreMatch(same, "spelling")
    in_alphabet = pre_tokenizer is not None and pre_tokenizer.emits_byte_alphabet
    ours = [_pieces(pre_tokenizer, text) for text in _texts()]
    by_basis: dict[str, list[str]] = {"proof": [], "search": []}
    nearest: tuple[int, str, PatternDifference | None] = (-1, "", None)
    for names, theirs in _candidates():
        alike, difference = _first_difference(ours, theirs, in_alphabet)
        proved = False
        if difference is None:
            proved, difference = _prove(pre_tokenizer, theirs)
        if difference is None:
            by_basis["proof" if proved else "search"] += names
        elif alike > nearest[0]:
            nearest = alike, names[0], difference
    for basis, names in by_basis.items():
        if names:
            return GGUFPreMatch(tuple(dict.fromkeys(names)), basis)
    return GGUFPreMatch((), "", *nearest[1:])


def names_by_spelling(pre_tokenizer: PreTokenizer | None) -> tuple[str, ...]:
    """Return the names with the same patterns, in any known spelling, the best known first. Takes milliseconds."""
    names = (name for spelling in spellings(pre_tokenizer) or () for name in names_for(spelling))
    return tuple(dict.fromkeys(names))


def spellings(pre_tokenizer: PreTokenizer | None) -> list[list[str]] | None:
    """Return the split patterns of a pre-tokenizer, in order, in each known spelling; None if it isn't made of these.

    >>> spellings(PreTokenizerSequence((Split(r"[0-9]"), ByteLevel(add_prefix_space=False))))[0][0]
    '[0-9]'
    """
    splits = _splits(pre_tokenizer)
    if splits is None:
        return None
    named = [find_pattern(split.pattern) for split in splits]
    older = [match.oniguruma if match else split.pattern for match, split in zip(named, splits)]
    newer = [match.regex if match else split.pattern for match, split in zip(named, splits)]
    # tiktoken's cl100k splits white space at the end of a text differently; llama.cpp has no name for that
    return [newer] if any(match and match.name == "cl100k" for match in named) else [older, newer]


def _splits(pre_tokenizer: PreTokenizer | None) -> list[Split] | None:
    """Return the isolating splits that a pre-tokenizer consists of, without a final ByteLevel that cuts nothing."""
    steps = [] if pre_tokenizer is None else list(pre_tokenizer.steps)
    if steps and isinstance(steps[-1], ByteLevel) and steps[-1].cuts_nothing:
        steps.pop()
    if any(step.byte_level for step in steps[:-1]):
        return None  # the steps after it see GPT-2's alphabet
    splits = [split for step in steps if (split := step.as_single_split) is not None]
    return splits if len(splits) == len(steps) else None


@lru_cache(1)
def _candidates() -> list[tuple[list[str], PreTokenizerSequence]]:
    """Return the names of byte-level pre-tokenizers and their patterns, in every version."""
    by_patterns: dict[tuple[str, ...], list[str]] = {}
    for name, pre in gguf_pre().items():
        for patterns in dict.fromkeys((pre.regex, pre.original or pre.regex)) if pre.byte_level else ():
            by_patterns.setdefault(with_all_spaces(patterns), []).append(name)
    return [
        (names, PreTokenizerSequence(tuple(Split(pattern, dialect="oniguruma") for pattern in patterns)))
        for patterns, names in by_patterns.items()
    ]


@lru_cache(1)
def _texts() -> tuple[str, ...]:
    """Return the texts to try, the longest last."""
    short = ("".join(chars) for most, length in SIZES for chars in product(CHARACTERS[:most], repeat=length))
    return tuple(dict.fromkeys((*CHARACTERS, *short, *LONGER)))


def _pieces(pre_tokenizer: PreTokenizer | None, text: str) -> tuple[str, ...]:
    return (text,) if pre_tokenizer is None else tuple(pre_tokenizer.split(text))


def _first_difference(
    ours: Iterable[tuple[str, ...]], theirs: PreTokenizerSequence, in_alphabet: bool
) -> tuple[int, PatternDifference | None]:
    """Return how many texts are cut alike before the first that isn't, and the pieces of that one."""
    alike = 0
    for alike, (text, pieces) in enumerate(zip(_texts(), ours)):
        other = _pieces(theirs, text)
        if in_alphabet:
            other = tuple(to_alphabet(piece.encode()) for piece in other)
        if pieces != other:
            return alike, PatternDifference(text, pieces, other)
    return alike + 1, None


def _prove(pre_tokenizer: PreTokenizer | None, theirs: PreTokenizerSequence) -> tuple[bool, PatternDifference | None]:
    """Return whether both are proved to cut every text alike, and otherwise a text that refutes it, if one is known."""
    splits, other_splits = _splits(pre_tokenizer), _splits(theirs)
    if splits is None or other_splits is None or len(splits) != len(other_splits):
        return False, None
    for mine, other in zip(splits, other_splits):
        try:
            difference = compare_patterns(mine.pattern, other.pattern, mine.dialect, other.dialect)
        except NotRegular:
            return False, None
        if difference is not None:  # of a step among others: the next ones may cut there all the same
            return False, difference if len(splits) == 1 else None
    return True, None
