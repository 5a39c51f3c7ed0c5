"""Cut a text into pieces (pre-tokens) with a regular expression. No merge ever crosses a cut.

A match is a piece; what a pattern leaves unmatched between two matches is a piece too, so that nothing of the text
is ever lost. The pieces, joined, are the text.

Two engines with one result. The `regex` package is about four times as fast as `re`, but its Unicode table is newer
than tiktoken's: a text that holds a character on which they differ goes to `re`, with every class spelled out from
the project's table. Where `regex` isn't installed, `re` does everything.

Chapter: Regex pre-tokenization. Cost: linear in the text for the named patterns.
"""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any

from ..errors import MissingDependencyError, PatternError
from .patterns import find_pattern
from .portable import NotPortable, portable
from .unicode_tables import Ranges, property_ranges

try:
    import regex as regex_package
except ImportError:  # a browser's Python, say
    regex_package = None


class Split:
    r"""A pre-tokenizer that cuts by a pattern: one of `patterns.PATTERNS` by name, or any regular expression.

    >>> Split("gpt2").split("Don't panic, 42 times")
    ['Don', "'t", ' panic', ',', ' 42', ' times']
    >>> Split("[a-z]+").split("ab--cd!")  # gaps are kept
    ['ab', '--', 'cd', '!']

    Raises PatternError for a pattern that doesn't compile, and MissingDependencyError for one that only the
    `regex` package can run where it isn't installed.
    """

    def __init__(self, pattern: str) -> None:
        named = find_pattern(pattern)
        self.name = named.name if named else None
        self.pattern = named.regex if named else pattern
        self._properties: set[str] = set()
        try:
            explicit, self._properties = portable(self.pattern)
            self._exact: Any = re.compile(explicit)
            fast, _ = portable(self.pattern, keep_properties=True)
            self._fast: Any = regex_package.compile(fast) if regex_package else None
        except NotPortable as reason:
            self._exact = self._compile_with_regex(reason)
            self._fast = None
        except (re.error, OverflowError) as error:
            raise PatternError(f"the pattern {pattern!r} is not a regular expression: {error}") from error
        except RecursionError as error:
            raise PatternError(f"the pattern {pattern[:60]!r}… is nested too deeply") from error

    def _compile_with_regex(self, reason: NotPortable) -> Any:
        if regex_package is None:
            raise MissingDependencyError(f"{reason}: needs the regex package (pip install regex)") from reason
        try:
            return regex_package.compile(self.pattern, regex_package.V1 if "&&" in self.pattern else 0)
        except regex_package.error as error:
            raise PatternError(f"the pattern {self.pattern!r} is not a regular expression: {error}") from error

    def __repr__(self) -> str:
        return f"Split({self.name or self.pattern!r})"

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return Split, (self.name or self.pattern,)

    def split(self, text: str) -> list[str]:
        """The pieces of `text`, in order; joined they are the text."""
        engine = self._engine(text)
        if engine.groups == 0:
            pieces: list[str] = engine.findall(text)
            if sum(map(len, pieces)) == len(text) and "" not in pieces:
                return pieces
        return list(self._with_gaps(engine, text))

    def iter_split(self, text: str) -> Iterator[str]:
        """The pieces one by one, for callers that may stop early."""
        return self._with_gaps(self._engine(text), text)

    def _engine(self, text: str) -> Any:
        if self._fast is None or (not text.isascii() and not self._disputed.isdisjoint(text)):
            return self._exact
        return self._fast

    def _with_gaps(self, engine: Any, text: str) -> Iterator[str]:
        end = 0
        for match in engine.finditer(text):
            start, stop = match.span()
            if start == stop:
                continue
            if start > end:
                yield text[end:start]
            yield text[start:stop]
            end = stop
        if end < len(text):
            yield text[end:]

    @cached_property
    def _disputed(self) -> frozenset[str]:
        """The characters that the `regex` package puts into another class than the project's table."""
        return frozenset().union(*map(_disputed_in, self._properties))


@lru_cache(None)
def _disputed_in(name: str) -> frozenset[str]:
    """Cost: about 10 ms for a property, once in a process."""
    source = {"White_Space": r"\s", "Nd": r"\d", "Word": r"\w"}.get(name, rf"\p{{{name}}}")
    theirs = tuple((m.start(), m.end() - 1) for m in regex_package.finditer(rf"{source}+", _every_character()))
    ours = property_ranges(name)
    different = set(theirs) ^ set(ours)  # only ranges that are not the same on both sides need a closer look
    return _members(different & set(theirs)) ^ _members(different & set(ours))


def _members(spans: set[tuple[int, int]] | Ranges) -> frozenset[str]:
    return frozenset(chr(code_point) for first, last in spans for code_point in range(first, last + 1))


@lru_cache(1)
def _every_character() -> str:
    return "".join(map(chr, range(0x110000)))
