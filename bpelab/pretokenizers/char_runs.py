"""Pieces that are single characters, or runs, of character classes: defined once, run by Python's `re` and by C.

Chapter: Regex pre-tokenization. Cost: 5 ms for the larger classes, once; then one search over the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .._support.lazy_property import cached_property
from ..unicode.tables import MAX_CODE_POINT, Ranges, class_body, complement, union
from . import pattern_steps
from .base import ALL, MATCHES, PreTokenizer
from .boundary import Boundary
from .pattern_steps import PatternStep


class CharRun(NamedTuple):
    """A character class; each character is a piece of its own, or with `repeats` each run is a piece."""

    ranges: Ranges
    repeats: bool = True


class CharRuns:
    """The pieces of several disjoint classes. Characters in none of them are dropped.

    >>> CharRuns(CharRun(((48, 57),)), CharRun(((97, 122),), repeats=False)).findall("ab-120")
    ['a', 'b', '120']
    """

    def __init__(self, *runs: CharRun) -> None:
        self._runs = runs

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern that Python's `re` runs."""
        return re.compile("|".join(_for_re(ranges, "++" if repeats else "") for ranges, repeats in self._runs))

    def findall(self, text: str) -> list[str]:
        """Return the pieces of a text."""
        return self.pattern.findall(text)

    @cached_property
    def step(self) -> PatternStep:
        """Return the pattern that C runs."""
        alternatives = (
            f"[{pattern_steps.class_body(ranges)}]{'+' if repeats else ''}" for ranges, repeats in self._runs
        )
        covers_all = union(*(run.ranges for run in self._runs)) == ((0, MAX_CODE_POINT),)
        return PatternStep("|".join(alternatives), ALL if covers_all else MATCHES)


def _for_re(ranges: Ranges, count: str) -> str:
    """Return a regular expression for a run of characters in `ranges`, or for one if `count` is "".

    `re` looks characters up to U+FFFF up in a table, but compares every character, even a space, with each range above
    that. So those ranges are a separate alternative, guarded by a lookahead, unless all above are in `ranges`.
    """
    if ranges[-1][1] == MAX_CODE_POINT and ranges[-1][0] <= 0x10000:
        return f"[^{class_body(complement(ranges))}]{count}"
    low = tuple((first, min(last, 0xFFFF)) for first, last in ranges if first <= 0xFFFF)
    high = tuple((max(first, 0x10000), last) for first, last in ranges if last > 0xFFFF)
    alternatives = [f"[{class_body(low)}]{count}"] if low else []
    alternatives += [rf"(?=[\U00010000-\U0010FFFF])[{class_body(high)}]{count}"] if high else []
    return f"(?:{'|'.join(alternatives)}){count}"


class CharRunSplit(PreTokenizer):
    """Base class of pre-tokenizers whose pieces are `CharRuns`; a subclass says which."""

    @property
    def runs(self) -> CharRuns:
        """The character classes whose runs are the pieces."""
        raise NotImplementedError

    def split(self, text: str, first: bool = True) -> list[str]:
        return self.runs.findall(text)

    def boundary(self, a: str, b: str) -> Boundary:
        """Return CUT if the two characters alone are cut: the context doesn't matter."""
        return Boundary.CUT if self.split(a + b) != [a + b] else Boundary.BROKEN

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        return [self.runs.step]
