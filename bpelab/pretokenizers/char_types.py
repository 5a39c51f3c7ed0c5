"""Hugging Face's pre-tokenizers that cut by the kind of character.

Each is named as its JSON `type` and has its JSON keys as fields. Cost: one search over the text.

Chapter: Regex pre-tokenization. Source: tokenizers/src/pre_tokenizers/{bert,delimiter,digits,fixed_length,punctuation,
whitespace,unicode_scripts}.rs, compared with them on every code point.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from . import other_tables
from .base import PreTokenizer, check_character
from .behaviors import Behavior, check_behavior, pieces
from .unicode_tables import Ranges, class_body, complement, property_ranges, union


@lru_cache(None)
def _compiled(kind: str) -> re.Pattern[str]:
    space, word = property_ranges("White_Space"), property_ranges("Word")
    mark, digit = other_tables.punctuation(), other_tables.numeric()
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
    """An expression for one character of `ranges`, or for as many as follow each other.

    `re` looks up characters up to U+FFFF in a table, but all beyond one range after the other, also to find that a
    space is none of them. So these stand apart, behind a look ahead.
    """
    low = tuple((first, min(last, 0xFFFF)) for first, last in ranges if first <= 0xFFFF)
    high = tuple((max(first, 0x10000), last) for first, last in ranges if last > 0xFFFF)
    return rf"(?:[{class_body(low)}]{count}|(?=[\U00010000-\U0010FFFF])[{class_body(high)}]{count}){count}"


@dataclass(frozen=True)
class WhitespaceSplit(PreTokenizer):
    """Words between white space, which is dropped.

    >>> WhitespaceSplit().split("Don't panic!")
    ["Don't", 'panic!']
    """

    def split(self, text: str, first: bool = True) -> list[str]:
        return _compiled("WhitespaceSplit").findall(text)


@dataclass(frozen=True)
class Whitespace(PreTokenizer):
    r"""`\w+|[^\w\s]+`: runs of letters, digits and marks, and runs of what is none of these. White space is dropped.

    >>> Whitespace().split("Don't panic!?")
    ['Don', "'", 't', 'panic', '!?']
    """

    def split(self, text: str, first: bool = True) -> list[str]:
        return _compiled("Whitespace").findall(text)


@dataclass(frozen=True)
class BertPreTokenizer(PreTokenizer):
    """Words between white space, which is dropped; every punctuation character is a piece of its own.

    >>> BertPreTokenizer().split("Don't panic!?")
    ['Don', "'", 't', 'panic', '!', '?']
    """

    def split(self, text: str, first: bool = True) -> list[str]:
        return _compiled("BertPreTokenizer").findall(text)


@dataclass(frozen=True)
class Punctuation(PreTokenizer):
    """Cuts at every punctuation character; `behavior` says what becomes of it (`behaviors.BEHAVIORS`).

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
    """Numbers apart from the rest, digit by digit if `individual_digits`. `½`, `²` and `Ⅷ` are digits here.

    >>> Digits().split("Route 66"), Digits(individual_digits=True).split("Route 66")
    (['Route ', '66'], ['Route ', '6', '6'])
    """

    individual_digits: bool = False

    def split(self, text: str, first: bool = True) -> list[str]:
        return _compiled("Digit" if self.individual_digits else "Digits").findall(text)


@dataclass(frozen=True)
class CharDelimiterSplit(PreTokenizer):
    """What lies between the occurrences of one character, which is dropped.

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
    """Pieces of `length` characters; the last may be shorter.

    >>> FixedLength(3).split("abcdefgh")
    ['abc', 'def', 'gh']

    Raises ValueError where `length` is no integer of at least 1 (Hugging Face takes 0, and stops at the first text).
    """

    length: int = 5

    def __post_init__(self) -> None:
        if isinstance(self.length, bool) or not isinstance(self.length, int) or self.length < 1:
            raise ValueError(f"FixedLength: length is a number of characters, at least 1, not {self.length!r}")

    def split(self, text: str, first: bool = True) -> list[str]:
        return [text[start : start + self.length] for start in range(0, len(text), self.length)]


@dataclass(frozen=True)
class UnicodeScripts(PreTokenizer):
    """Cuts where the script changes. Japanese is one script; spaces, and what came after Unicode 9, are of every one.

    Such characters at the beginning of a text are dropped, as Hugging Face does it.

    >>> UnicodeScripts().split("Apples are りんご 林檎")
    ['Apples are ', 'りんご 林檎']
    """

    def split(self, text: str, first: bool = True) -> list[str]:
        cuts, last = [], ""
        for position, char in enumerate(text):
            script = other_tables.script(char)
            if script and script != last:
                cuts.append(position)
                last = script
        return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)])]
