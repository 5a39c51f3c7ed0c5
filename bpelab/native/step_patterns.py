"""From the steps of a pre-tokenizer to patterns, which C cuts by one after another.

Behaviours become patterns where a match is one character of a class S: merged with what is before, for example, it is
`[^S]+S?|S`. What an unknown pattern leaves over can be dropped, for a table can tell a match from a gap. Pieces of a
length, or of a script, are left to Python.

Chapter: Compiled. Cost: that of looking up classes of characters, 5 ms once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..pretokenizers import other_tables
from ..pretokenizers.base import PreTokenizer
from ..pretokenizers.byte_level import ByteLevel
from ..pretokenizers.components import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    Punctuation,
    Whitespace,
    WhitespaceSplit,
)
from ..pretokenizers.metaspace import Metaspace
from ..pretokenizers.patterns import PATTERNS
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split import Split
from ..pretokenizers.split_pattern import SplitPattern
from ..pretokenizers.unicode_tables import Ranges, property_ranges, union
from .plan import ALL, GAPS, MATCHES, Unserved

if TYPE_CHECKING:
    from ..pretokenizers.regex_sets import Dialect
    from .plan import Preparation

OF_A_CLASS = {
    "Isolated": "[{0}]|[^{0}]+",
    "Contiguous": "[{0}]+|[^{0}]+",
    "MergedWithPrevious": "[^{0}]+[{0}]?|[{0}]",
    "MergedWithNext": "[{0}]?[^{0}]+|[{0}]",
}


class LevelPattern(NamedTuple):
    """A pattern, what is kept of its pieces, its dialect, and a string without which it cuts nothing."""

    pattern: str
    keep: int = ALL
    dialect: Dialect = "rust"
    needs: str = ""


def patterns_of(pre_tokenizer: PreTokenizer) -> list[LevelPattern]:
    """The patterns that all steps come to after the `preparation`. Raises Unserved."""
    return [pattern for number, step in enumerate(_steps(pre_tokenizer)) for pattern in _patterns(step, number)]


def preparation(pre_tokenizer: PreTokenizer) -> Preparation | None:
    """What the first step does to a text before it is cut; None for nothing."""
    step = next(iter(_steps(pre_tokenizer)), None)
    if isinstance(step, ByteLevel) and step.add_prefix_space:
        return lambda text, first: " " + text if text and not text.startswith(" ") else text
    if isinstance(step, Metaspace):
        whole = Metaspace(step.replacement, step.prepend_scheme, splits=False)
        return lambda text, first: "".join(whole.split(text, first))
    return None


def _steps(pre_tokenizer: PreTokenizer) -> tuple[PreTokenizer, ...]:
    return pre_tokenizer._steps if isinstance(pre_tokenizer, PreTokenizerSequence) else (pre_tokenizer,)


def _patterns(step: PreTokenizer, number: int) -> Iterator[LevelPattern]:
    """The patterns of one step, the `number`th. Raises Unserved."""
    if isinstance(step, ByteLevel):
        if step.add_prefix_space and number:
            raise Unserved
        if step.use_regex:
            yield LevelPattern(PATTERNS["gpt2"].regex)
    elif isinstance(step, Metaspace):
        if number:
            raise Unserved
        if step.splits:
            yield _of_string(step.replacement, "MergedWithNext")
    elif isinstance(step, Split):
        if step.behavior == "Isolated":
            yield LevelPattern(step.pattern, ALL, step.dialect)
        elif step.behavior == "Removed":
            yield LevelPattern(step.pattern, MATCHES if step.invert else GAPS, step.dialect)
        else:
            raise Unserved
    elif isinstance(step, SplitPattern):
        yield _of_split(step)
    else:
        yield _of_kinds(step)


def _of_split(step: SplitPattern) -> LevelPattern:
    if step.pattern.kind == "String" and not step.invert:
        return _of_string(step.pattern.text, step.behavior)
    if step.pattern.kind == "Regex" and step.behavior == "Isolated":
        return LevelPattern(step.pattern.text, ALL, "oniguruma")
    if step.pattern.kind == "Regex" and step.behavior == "Removed":
        return LevelPattern(step.pattern.text, MATCHES if step.invert else GAPS, "oniguruma")
    raise Unserved


def _of_string(text: str, behavior: str) -> LevelPattern:
    written = "".join(f"\\x{{{ord(char):X}}}" for char in text)
    if len(text) == 1 and behavior in OF_A_CLASS:
        return LevelPattern(OF_A_CLASS[behavior].format(written), needs=text)
    if text and behavior in ("Isolated", "Removed"):
        return LevelPattern(written, GAPS if behavior == "Removed" else ALL, needs=text)
    raise Unserved


def _of_kinds(step: PreTokenizer) -> LevelPattern:
    space, word = property_ranges("White_Space"), property_ranges("Word")
    if isinstance(step, Digits):
        behavior = "Isolated" if step.individual_digits else "Contiguous"
        return LevelPattern(OF_A_CLASS[behavior].format(_class(other_tables.numeric())))
    if isinstance(step, Punctuation):
        mark = _class(other_tables.punctuation())
        removed = step.behavior == "Removed"
        return LevelPattern(f"[{mark}]", GAPS) if removed else LevelPattern(OF_A_CLASS[step.behavior].format(mark))
    if isinstance(step, WhitespaceSplit):
        return LevelPattern(f"[^{_class(space)}]+", MATCHES)
    if isinstance(step, Whitespace):
        return LevelPattern(f"[{_class(word)}]+|[^{_class(union(word, space))}]+", MATCHES)
    if isinstance(step, BertPreTokenizer):
        marks = other_tables.punctuation()
        return LevelPattern(f"[{_class(marks)}]|[^{_class(union(marks, space))}]+", MATCHES)
    if isinstance(step, CharDelimiterSplit):
        return _of_string(step.delimiter, "Removed")
    raise Unserved


def _class(ranges: Ranges) -> str:
    return "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in ranges)
