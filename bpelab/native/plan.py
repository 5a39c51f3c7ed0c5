"""From a pre-tokenizer to what C cuts by: what Python does to the text first, and then one pattern after another.

Behaviours become patterns where a match is one character of a class S: merged with what is before, for example, it is
`[^S]+S?|S`. What an unknown pattern leaves over can be dropped, for a table can tell a match from a gap. Patterns that
look behind, or match the empty string, are left to Python, as are pieces of a length, or of a script.

Chapter: Compiled. Cost: compiling the patterns, a millisecond for most.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..errors import PatternError
from ..model import BPEModel
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
from ..pretokenizers.dfa import DFA, NotRegular, dfa_for
from ..pretokenizers.metaspace import Metaspace
from ..pretokenizers.patterns import PATTERNS
from ..pretokenizers.regex_sets import Dialect
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split import Split, SplitPattern
from ..pretokenizers.unicode_tables import Ranges, property_ranges, union

ALL, MATCHES, GAPS = 0, 1, 2
"""What a level keeps; see levels.h."""
MOST_LEVELS = 15
"""The encoder has room for one more, which the model itself may need."""

OF_A_CLASS = {
    "Isolated": "[{0}]|[^{0}]+",
    "Contiguous": "[{0}]+|[^{0}]+",
    "MergedWithPrevious": "[^{0}]+[{0}]?|[{0}]",
    "MergedWithNext": "[{0}]?[^{0}]+|[{0}]",
}


class Unserved(Exception):
    """The encoder in C can't do what this pre-tokenizer does."""


Level = tuple[int, bytes, tuple[Any, ...]]
"""What is kept, the bytes without which nothing is cut, and the pattern's table, as the Encoder wants them."""
Preparation = Callable[[str, bool], str]


class _Pattern(NamedTuple):
    pattern: str
    keep: int = ALL
    dialect: Dialect = "rust"
    needs: str = ""


def levels_for(pre_tokenizer: PreTokenizer | None, model: BPEModel) -> tuple[Level, ...] | None:
    """How a text is cut for `model` after its `preparation`; None where only Python can do it."""
    characters = model.units is not None and model.units.characters
    if pre_tokenizer is not None and (pre_tokenizer.alphabet or (characters and pre_tokenizer.byte_level)):
        return None
    try:
        steps = enumerate(_steps(pre_tokenizer))
        patterns = [pattern for number, step in steps for pattern in _patterns(step, number)]
        levels = tuple((p.keep, p.needs.encode(), _table(dfa_for(p.pattern, p.dialect))) for p in patterns)
    except (Unserved, PatternError, NotRegular):
        return None
    return levels if len(levels) <= MOST_LEVELS else None


def _steps(pre_tokenizer: PreTokenizer | None) -> tuple[PreTokenizer, ...]:
    if isinstance(pre_tokenizer, PreTokenizerSequence):
        return pre_tokenizer._steps
    return () if pre_tokenizer is None else (pre_tokenizer,)


def _table(dfa: DFA) -> tuple[Any, ...]:
    """Transitions, width, start, and classes in two stages. Raises Unserved."""
    start = dfa.entries[0]
    empty = any(step & 1 for step in dfa.trans[start * dfa.width : (start + 1) * dfa.width])
    if empty or len(set(dfa.entries)) > 1:  # it matches the empty string, or looks behind
        raise Unserved
    return dfa.trans, dfa.width, start, *dfa.stages


def preparation(pre_tokenizer: PreTokenizer | None) -> Preparation | None:
    """What is done to a text before it is cut, given whether it is the beginning of the input; None for nothing."""
    step = next(iter(_steps(pre_tokenizer)), None)
    if isinstance(step, ByteLevel) and step.add_prefix_space:
        return lambda text, first: " " + text if text and not text.startswith(" ") else text
    if isinstance(step, Metaspace):
        whole = Metaspace(step.replacement, step.prepend_scheme, splits=False)
        return lambda text, first: "".join(whole.split(text, first))
    return None


def _patterns(step: PreTokenizer, number: int) -> Iterator[_Pattern]:
    """The patterns of one step, the `number`th. Raises Unserved."""
    if isinstance(step, ByteLevel):
        if step.add_prefix_space and number:
            raise Unserved
        if step.use_regex:
            yield _Pattern(PATTERNS["gpt2"].regex)
    elif isinstance(step, Metaspace):
        if number:
            raise Unserved
        if step.splits:
            yield _of_string(step.replacement, "MergedWithNext")
    elif isinstance(step, Split):
        if step.behavior == "Isolated":
            yield _Pattern(step.pattern, ALL, step.dialect)
        elif step.behavior == "Removed":
            yield _Pattern(step.pattern, MATCHES if step.invert else GAPS, step.dialect)
        else:
            raise Unserved
    elif isinstance(step, SplitPattern):
        yield _of_split(step)
    else:
        yield _of_kinds(step)


def _of_split(step: SplitPattern) -> _Pattern:
    if step.pattern.kind == "String" and not step.invert:
        return _of_string(step.pattern.text, step.behavior)
    if step.pattern.kind == "Regex" and step.behavior == "Isolated":
        return _Pattern(step.pattern.text, ALL, "oniguruma")
    if step.pattern.kind == "Regex" and step.behavior == "Removed":
        return _Pattern(step.pattern.text, MATCHES if step.invert else GAPS, "oniguruma")
    raise Unserved


def _of_string(text: str, behavior: str) -> _Pattern:
    written = "".join(f"\\x{{{ord(char):X}}}" for char in text)
    if len(text) == 1 and behavior in OF_A_CLASS:
        return _Pattern(OF_A_CLASS[behavior].format(written), needs=text)
    if text and behavior in ("Isolated", "Removed"):
        return _Pattern(written, GAPS if behavior == "Removed" else ALL, needs=text)
    raise Unserved


def _of_kinds(step: PreTokenizer) -> _Pattern:
    space, word = property_ranges("White_Space"), property_ranges("Word")
    if isinstance(step, Digits):
        behavior = "Isolated" if step.individual_digits else "Contiguous"
        return _Pattern(OF_A_CLASS[behavior].format(_class(other_tables.numeric())))
    if isinstance(step, Punctuation):
        mark = _class(other_tables.punctuation())
        removed = step.behavior == "Removed"
        return _Pattern(f"[{mark}]", GAPS) if removed else _Pattern(OF_A_CLASS[step.behavior].format(mark))
    if isinstance(step, WhitespaceSplit):
        return _Pattern(f"[^{_class(space)}]+", MATCHES)
    if isinstance(step, Whitespace):
        return _Pattern(f"[{_class(word)}]+|[^{_class(union(word, space))}]+", MATCHES)
    if isinstance(step, BertPreTokenizer):
        marks = other_tables.punctuation()
        return _Pattern(f"[{_class(marks)}]|[^{_class(union(marks, space))}]+", MATCHES)
    if isinstance(step, CharDelimiterSplit):
        return _of_string(step.delimiter, "Removed")
    raise Unserved


def _class(ranges: Ranges) -> str:
    return "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in ranges)
