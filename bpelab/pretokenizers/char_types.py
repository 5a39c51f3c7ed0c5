"""Hugging Face's pre-tokenizers that cut by character class.

Each class has the name of its JSON `type`, and its fields are the JSON keys. Cost: one search over the text.

Chapter: Regex pre-tokenization. Source: tokenizers/src/pre_tokenizers/{bert,delimiter,digits,fixed_length,punctuation,
whitespace,unicode_scripts}.rs, compared with them on every code point.
"""

from dataclasses import dataclass
from functools import lru_cache

from .._support.validate import check_size
from ..unicode import hf_pretokenizer_tables
from ..unicode.tables import complement, property_ranges, union
from .base import PreTokenizer, check_character
from .boundary import Boundary, boundary_by_behavior
from .char_runs import CharRun, CharRuns, CharRunSplit
from .pattern_steps import PatternStep, class_step, string_step
from .split_behaviors import Behavior, check_behavior, pieces


@lru_cache(1)
def _words() -> CharRuns:
    return CharRuns(CharRun(complement(property_ranges("White_Space"))))


@dataclass(frozen=True)
class WhitespaceSplit(CharRunSplit):
    """Split at white space, which is dropped.

    >>> WhitespaceSplit().split("Don't panic!")
    ["Don't", 'panic!']
    """

    @property
    def runs(self) -> CharRuns:
        return _words()


@lru_cache(1)
def _words_and_signs() -> CharRuns:
    word = property_ranges("Word")
    return CharRuns(CharRun(word), CharRun(complement(union(word, property_ranges("White_Space")))))


@dataclass(frozen=True)
class Whitespace(CharRunSplit):
    r"""Split into the matches of `\w+|[^\w\s]+`: runs of word characters and runs of other non-space characters.

    White space is dropped.

    >>> Whitespace().split("Don't panic!?")
    ['Don', "'", 't', 'panic', '!?']
    """

    @property
    def runs(self) -> CharRuns:
        return _words_and_signs()


@lru_cache(1)
def _marks_and_words() -> CharRuns:
    mark = hf_pretokenizer_tables.punctuation()
    others = complement(union(mark, property_ranges("White_Space")))
    return CharRuns(CharRun(mark, repeats=False), CharRun(others))


@dataclass(frozen=True)
class BertPreTokenizer(CharRunSplit):
    """Split at white space, which is dropped, and isolate every punctuation character.

    >>> BertPreTokenizer().split("Don't panic!?")
    ['Don', "'", 't', 'panic', '!', '?']
    """

    @property
    def runs(self) -> CharRuns:
        return _marks_and_words()


@lru_cache(1)
def _marks() -> CharRuns:
    return CharRuns(CharRun(hf_pretokenizer_tables.punctuation(), repeats=False))


@dataclass(frozen=True)
class Punctuation(PreTokenizer):
    """Split at every punctuation character; `behavior` (`split_behaviors.BEHAVIORS`) says where it goes.

    >>> Punctuation("MergedWithPrevious").split("Don't panic!?")
    ["Don'", 't panic!', '?']

    Raises ValueError for a behaviour that doesn't exist.
    """

    behavior: Behavior = "Isolated"

    def __post_init__(self) -> None:
        check_behavior(self.behavior)

    def split(self, text: str, first: bool = True) -> list[str]:
        return pieces(text, (match.span() for match in _marks().pattern.finditer(text)), self.behavior)

    def boundary(self, a: str, b: str) -> Boundary:
        left, right = (_marks().pattern.match(char) is not None for char in (a, b))
        return boundary_by_behavior(self.behavior, False, left, right)

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        return [class_step(hf_pretokenizer_tables.punctuation(), self.behavior)]


@lru_cache(2)
def _digits(individual: bool) -> CharRuns:
    digit = hf_pretokenizer_tables.numeric()
    return CharRuns(CharRun(digit, repeats=not individual), CharRun(complement(digit)))


@dataclass(frozen=True)
class Digits(CharRunSplit):
    """Separate numbers from other text, digit by digit if `individual_digits`. `½`, `²` and `Ⅷ` count as digits.

    >>> Digits().split("Route 66"), Digits(individual_digits=True).split("Route 66")
    (['Route ', '66'], ['Route ', '6', '6'])
    """

    individual_digits: bool = False

    @property
    def runs(self) -> CharRuns:
        return _digits(bool(self.individual_digits))


@dataclass(frozen=True)
class CharDelimiterSplit(PreTokenizer):
    """Split at one character, which is dropped.

    >>> CharDelimiterSplit("-").split("a-b--c")
    ['a', 'b', 'c']

    Raises ValueError unless `delimiter` is one character.
    """

    delimiter: str

    def __post_init__(self) -> None:
        check_character(self.delimiter, "CharDelimiterSplit: delimiter")

    def split(self, text: str, first: bool = True) -> list[str]:
        return [piece for piece in text.split(self.delimiter) if piece]

    def boundary(self, a: str, b: str) -> Boundary:
        return Boundary.CUT if self.delimiter in (a, b) else Boundary.BROKEN

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        step = string_step(self.delimiter, "Removed")
        return None if step is None else [step]


@dataclass(frozen=True)
class FixedLength(PreTokenizer):
    """Split into pieces of `length` characters; the last may be shorter.

    >>> FixedLength(3).split("abcdefgh")
    ['abc', 'def', 'gh']

    Raises ValueError unless `length` is an integer of at least 1 (Hugging Face accepts 0 and stops at the first text).
    """

    length: int = 5

    def __post_init__(self) -> None:
        check_size(self.length, "FixedLength: length", 1)

    def split(self, text: str, first: bool = True) -> list[str]:
        return [text[start : start + self.length] for start in range(0, len(text), self.length)]

    @property
    def piece_length(self) -> int:
        return self.length


@dataclass(frozen=True)
class UnicodeScripts(PreTokenizer):
    """Split where the script changes. Kana and Han count as one script, for Japanese.

    Spaces and the characters added after Unicode 9 belong to every script. At the beginning of a text they are dropped,
    as in Hugging Face.

    >>> UnicodeScripts().split("Apples are りんご 林檎")
    ['Apples are ', 'りんご 林檎']
    """

    def split(self, text: str, first: bool = True) -> list[str]:
        cuts, last = [], ""
        for position, char in enumerate(text):
            script = hf_pretokenizer_tables.script(char)
            if script and script != last:
                cuts.append(position)
                last = script
        return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)])]

    def boundary(self, a: str, b: str) -> Boundary:
        before, after = map(hf_pretokenizer_tables.script, (a, b))
        if not after:
            return Boundary.UNSAFE  # at the start of a text it would be dropped
        return Boundary.CUT if before and before != after else Boundary.BROKEN
