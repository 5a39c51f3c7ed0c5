"""Hugging Face's pre-tokenizers that cut by character class.

Each class has the name of its JSON `type`, and its fields are the JSON keys. Cost: one search over the text.

Chapter: Regex pre-tokenization. Source: tokenizers/src/pre_tokenizers/{bert,delimiter,digits,fixed_length,punctuation,
whitespace,unicode_scripts}.rs, compared with them on every code point.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from ..unicode import hf_pretokenizer_tables
from ..unicode.tables import Ranges, class_body, complement, property_ranges, union
from .base import PreTokenizer, check_character
from .split_behaviors import Behavior, check_behavior, pieces


@lru_cache(None)
def _compiled(kind: str) -> re.Pattern[str]:
    space, word = property_ranges("White_Space"), property_ranges("Word")
    mark, digit = hf_pretokenizer_tables.punctuation(), hf_pretokenizer_tables.numeric()
    return re.compile(
        {
            "WhitespaceSplit": lambda: f"[^{class_body(space)}]+",
            "Whitespace": lambda: f"{_some(word)}|{_some(complement(union(word, space)))}",
            "BertPreTokenizer": lambda: f"{_some(mark, '')}|{_some(complement(union(mark, space)))}",
            "Punctuation": lambda: _some(mark, ""),
            "Digits": lambda: f"{_some(digit)}|{_some(complement(digit))}",
            "Digit": lambda: f"{_some(digit, '')}|{_some(complement(digit))}",
        }[kind]()
    )


def _some(ranges: Ranges, count: str = "++") -> str:
    """Return a regular expression for a run of characters in `ranges`, or for one character if `count` is "".

    `re` finds characters up to U+FFFF in a table, but compares every character with the ranges above that one by one,
    even a space. So those ranges are a separate alternative, guarded by a lookahead.
    """
    low = tuple((first, min(last, 0xFFFF)) for first, last in ranges if first <= 0xFFFF)
    high = tuple((max(first, 0x10000), last) for first, last in ranges if last > 0xFFFF)
    return rf"(?:[{class_body(low)}]{count}|(?=[\U00010000-\U0010FFFF])[{class_body(high)}]{count}){count}"


@dataclass(frozen=True)
class WhitespaceSplit(PreTokenizer):
    """Split at white space, which is dropped.

    >>> WhitespaceSplit().split("Don't panic!")
    ["Don't", 'panic!']
    """

    def split(self, text: str, first: bool = True) -> list[str]:
        return _compiled("WhitespaceSplit").findall(text)


@dataclass(frozen=True)
class Whitespace(PreTokenizer):
    r"""Split into the matches of `\w+|[^\w\s]+`: runs of word characters and runs of other non-space characters.

    White space is dropped.

    >>> Whitespace().split("Don't panic!?")
    ['Don', "'", 't', 'panic', '!?']
    """

    def split(self, text: str, first: bool = True) -> list[str]:
        return _compiled("Whitespace").findall(text)


@dataclass(frozen=True)
class BertPreTokenizer(PreTokenizer):
    """Split at white space, which is dropped, and isolate every punctuation character.

    >>> BertPreTokenizer().split("Don't panic!?")
    ['Don', "'", 't', 'panic', '!', '?']
    """

    def split(self, text: str, first: bool = True) -> list[str]:
        return _compiled("BertPreTokenizer").findall(text)


@dataclass(frozen=True)
class Punctuation(PreTokenizer):
    """Split at every punctuation character; `behavior` says what becomes of it (`behaviors.BEHAVIORS`).

    >>> Punctuation("MergedWithPrevious").split("Don't panic!?")
    ["Don'", 't panic!', '?']

    Raises ValueError for a behaviour that doesn't exist.
    """

    behavior: Behavior = "Isolated"

    def __post_init__(self) -> None:
        check_behavior(self.behavior)

    def split(self, text: str, first: bool = True) -> list[str]:
        return pieces(text, (found.span() for found in _compiled("Punctuation").finditer(text)), self.behavior)


@dataclass(frozen=True)
class Digits(PreTokenizer):
    """Separate numbers from other text, digit by digit if `individual_digits`. `½`, `²` and `Ⅷ` count as digits.

    >>> Digits().split("Route 66"), Digits(individual_digits=True).split("Route 66")
    (['Route ', '66'], ['Route ', '6', '6'])
    """

    individual_digits: bool = False

    def split(self, text: str, first: bool = True) -> list[str]:
        return _compiled("Digit" if self.individual_digits else "Digits").findall(text)


@dataclass(frozen=True)
class CharDelimiterSplit(PreTokenizer):
    """Split at one character, which is dropped.

    >>> CharDelimiterSplit("-").split("a-b--c")
    ['a', 'b', 'c']

    Raises ValueError where `delimiter` is not one character.
    """

    delimiter: str

    def __post_init__(self) -> None:
        check_character(self.delimiter, "CharDelimiterSplit: delimiter")

    def split(self, text: str, first: bool = True) -> list[str]:
        return [piece for piece in text.split(self.delimiter) if piece]


@dataclass(frozen=True)
class FixedLength(PreTokenizer):
    """Split into pieces of `length` characters; the last may be shorter.

    >>> FixedLength(3).split("abcdefgh")
    ['abc', 'def', 'gh']

    Raises ValueError unless `length` is an integer of at least 1 (Hugging Face accepts 0 and stops at the first text).
    """

    length: int = 5

    def __post_init__(self) -> None:
        if isinstance(self.length, bool) or not isinstance(self.length, int) or self.length < 1:
            raise ValueError(f"FixedLength: length is a number of characters, at least 1, not {self.length!r}")

    def split(self, text: str, first: bool = True) -> list[str]:
        return [text[start : start + self.length] for start in range(0, len(text), self.length)]


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
