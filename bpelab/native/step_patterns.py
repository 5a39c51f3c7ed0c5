"""Convert the steps of a pre-tokenizer to patterns, by which C splits a text one after another.

Where a match is one character of a class S, its behaviour becomes part of the pattern: MergedWithPrevious, for example,
is `[^S]+S?|S`. The matches or the gaps of any other pattern can be dropped, for a DFA can tell them apart. Pieces of a
fixed length, or of one script, are left to Python.

Chapter: Native code. Cost: that of looking up classes of characters, 5 ms once.
"""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, NamedTuple

from ..pretokenizers.base import PreTokenizer
from ..pretokenizers.byte_level import ByteLevel
from ..pretokenizers.char_types import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    Punctuation,
    Whitespace,
    WhitespaceSplit,
)
from ..pretokenizers.metaspace import Metaspace
from ..pretokenizers.split import Split
from ..pretokenizers.split_pattern import SplitPattern
from ..regex.patterns import PATTERNS
from ..unicode import hf_pretokenizer_tables
from ..unicode.tables import Ranges, property_ranges, union
from .plan import ALL, GAPS, MATCHES, Unsupported

if TYPE_CHECKING:
    from ..regex.charsets import Dialect
    from .plan import Preparation

CLASS_PATTERNS = {
    "Isolated": "[{0}]|[^{0}]+",
    "Contiguous": "[{0}]+|[^{0}]+",
    "MergedWithPrevious": "[^{0}]+[{0}]?|[{0}]",
    "MergedWithNext": "[{0}]?[^{0}]+|[{0}]",
}


class LevelPattern(NamedTuple):
    """A pattern, which of its pieces are kept, its dialect, and a string without which it splits nothing."""

    pattern: str
    keep: int = ALL
    dialect: Dialect = "rust"
    required: str = ""


def patterns_of(pre_tokenizer: PreTokenizer) -> list[LevelPattern]:
    """Return the patterns of all steps, to apply after the `preparation`. Raises Unsupported."""
    return [pattern for index, step in enumerate(pre_tokenizer.steps) for pattern in _patterns(step, index)]


def preparation(pre_tokenizer: PreTokenizer) -> Preparation | None:
    """Return what the first step does to a text before it is split; None for nothing."""
    step = next(iter(pre_tokenizer.steps), None)
    if isinstance(step, ByteLevel) and step.add_prefix_space:
        return lambda text, first: " " + text if text and not text.startswith(" ") else text
    if isinstance(step, Metaspace):
        unsplit = Metaspace(step.replacement, step.prepend_scheme, splits=False)
        return lambda text, first: "".join(unsplit.split(text, first))
    return None


@singledispatch
def _patterns(step: PreTokenizer, index: int) -> list[LevelPattern]:
    """Return the patterns of the step at `index`, counted from 0. Raises Unsupported, as a class does without one."""
    raise Unsupported


@_patterns.register(ByteLevel)
def _(step: ByteLevel, index: int) -> list[LevelPattern]:
    if step.add_prefix_space and index:
        raise Unsupported
    return [LevelPattern(PATTERNS["gpt2"].regex)] if step.use_regex else []


@_patterns.register(Metaspace)
def _(step: Metaspace, index: int) -> list[LevelPattern]:
    if index:
        raise Unsupported
    return [_string_pattern(step.replacement, "MergedWithNext")] if step.splits else []


@_patterns.register(Split)
def _(step: Split, index: int) -> list[LevelPattern]:
    return [_regex_pattern(step.pattern, step.behavior, step.invert, step.dialect)]


@_patterns.register(SplitPattern)
def _(step: SplitPattern, index: int) -> list[LevelPattern]:
    if step.pattern.kind == "Regex":
        return [_regex_pattern(step.pattern.text, step.behavior, step.invert, "oniguruma")]
    if step.invert:
        raise Unsupported
    return [_string_pattern(step.pattern.text, step.behavior)]


@_patterns.register(CharDelimiterSplit)
def _(step: CharDelimiterSplit, index: int) -> list[LevelPattern]:
    return [_string_pattern(step.delimiter, "Removed")]


@_patterns.register(Digits)
def _(step: Digits, index: int) -> list[LevelPattern]:
    behavior = "Isolated" if step.individual_digits else "Contiguous"
    return [LevelPattern(CLASS_PATTERNS[behavior].format(_class_body(hf_pretokenizer_tables.numeric())))]


@_patterns.register(Punctuation)
def _(step: Punctuation, index: int) -> list[LevelPattern]:
    mark = _class_body(hf_pretokenizer_tables.punctuation())
    removed = step.behavior == "Removed"
    return [LevelPattern(f"[{mark}]", GAPS) if removed else LevelPattern(CLASS_PATTERNS[step.behavior].format(mark))]


@_patterns.register(WhitespaceSplit)
def _(step: WhitespaceSplit, index: int) -> list[LevelPattern]:
    return [LevelPattern(f"[^{_class_body(property_ranges('White_Space'))}]+", MATCHES)]


@_patterns.register(Whitespace)
def _(step: Whitespace, index: int) -> list[LevelPattern]:
    return [_two_runs("+", property_ranges("Word"))]


@_patterns.register(BertPreTokenizer)
def _(step: BertPreTokenizer, index: int) -> list[LevelPattern]:
    return [_two_runs("", hf_pretokenizer_tables.punctuation())]


def _two_runs(count: str, ranges: Ranges) -> LevelPattern:
    """Return a pattern of characters in `ranges`, and of runs of others; white space is dropped."""
    others = union(ranges, property_ranges("White_Space"))
    return LevelPattern(f"[{_class_body(ranges)}]{count}|[^{_class_body(others)}]+", MATCHES)


def _regex_pattern(pattern: str, behavior: str, invert: bool, dialect: Dialect) -> LevelPattern:
    if behavior == "Isolated":
        return LevelPattern(pattern, ALL, dialect)
    if behavior == "Removed":
        return LevelPattern(pattern, MATCHES if invert else GAPS, dialect)
    raise Unsupported


def _string_pattern(text: str, behavior: str) -> LevelPattern:
    escaped = "".join(f"\\x{{{ord(char):X}}}" for char in text)
    if len(text) == 1 and behavior in CLASS_PATTERNS:
        return LevelPattern(CLASS_PATTERNS[behavior].format(escaped), required=text)
    if text and behavior in ("Isolated", "Removed"):
        return LevelPattern(escaped, GAPS if behavior == "Removed" else ALL, required=text)
    raise Unsupported


def _class_body(ranges: Ranges) -> str:
    return "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in ranges)
