"""From a pre-tokenizer to what kernels cut by: what Python does to the text first, and then one pattern after another.

Behaviours become patterns where a match is one character of a class S: merged with what is before, for example, it is
`[^S]+S?|S`. What an unknown pattern leaves over can be dropped, for a table can tell a match from a gap.

Chapter: Compiled. Cost: compiling the patterns, a millisecond for most.
"""

from array import array
from collections.abc import Callable, Iterator
from typing import NamedTuple

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
from ..pretokenizers.implied import SPACE, ImpliedCuts
from ..pretokenizers.metaspace import Metaspace
from ..pretokenizers.patterns import PATTERNS
from ..pretokenizers.regex_sets import Dialect
from ..pretokenizers.sequence import PreTokenizerSequence
from ..pretokenizers.split import Split, SplitPattern
from ..pretokenizers.unicode_tables import Ranges, property_ranges, union
from .chain import ALL, GAPS, MATCHES, Level
from .neighbours import pair_table
from .scan import ScanTable

OF_A_CLASS = {
    "Isolated": "[{0}]|[^{0}]+",
    "Contiguous": "[{0}]+|[^{0}]+",
    "MergedWithPrevious": "[^{0}]+[{0}]?|[{0}]",
    "MergedWithNext": "[{0}]?[^{0}]+|[{0}]",
}


class Unserved(Exception):
    """The kernels can't do what this pre-tokenizer does."""


class Plan(NamedTuple):
    """`prepare` is what is done to a text first, given whether it is the beginning of the input; then the levels."""

    prepare: Callable[[str, bool], str] | None
    levels: tuple[Level, ...]

    @property
    def sole(self) -> ScanTable | None:
        """The table that does it all, where there is one."""
        if self.prepare is not None or len(self.levels) != 1 or self.levels[0].keep != ALL:
            return None
        return table if isinstance(table := self.levels[0].table, ScanTable) else None


class _Pattern(NamedTuple):
    pattern: str
    keep: int = ALL
    dialect: Dialect = "rust"
    needs: str = ""


def plan_for(pre_tokenizer: PreTokenizer | None, model: BPEModel) -> Plan | None:
    """How a text is cut for `model`; None where only Python can do it."""
    steps: tuple[PreTokenizer, ...] = () if pre_tokenizer is None else (pre_tokenizer,)
    if isinstance(pre_tokenizer, PreTokenizerSequence):
        steps = pre_tokenizer._steps
    characters = model.units is not None and model.units.characters
    if pre_tokenizer is not None and (pre_tokenizer.alphabet or (characters and pre_tokenizer.byte_level)):
        return None
    try:
        patterns = [pattern for number, step in enumerate(steps) for pattern in _patterns(step, number)]
        levels = [Level(_table(dfa_for(p.pattern, p.dialect)), p.keep, p.needs) for p in patterns]
        if (pairs := pair_table(model)) is not None:
            levels.append(Level(pairs, ALL, ""))
        elif (cuts := ImpliedCuts.of(model)) is not None:
            levels.append(Level(_table(_implied(cuts)), ALL, SPACE))
    except (Unserved, PatternError, NotRegular):
        return None
    return Plan(_preparation(steps[0] if steps else None), tuple(levels))


def _table(dfa: DFA) -> ScanTable:
    table = ScanTable.of(dfa)
    if table is None:
        raise Unserved
    return table


def _preparation(step: PreTokenizer | None) -> Callable[[str, bool], str] | None:
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


def _implied(cuts: ImpliedCuts) -> DFA:
    """The table of pieces that go on until a `▁` follows one of the characters behind which it is cut."""
    other, behind, space = 0, 1, 2
    chars, negated = cuts.behind
    kinds = dict.fromkeys(map(ord, chars), other if negated else behind) | {ord(SPACE): space}
    usual = behind if negated else other
    edges = sorted({0} | kinds.keys() | {code + 1 for code in kinds})
    starts = tuple(code for code in edges if code <= 0x10FFFF)
    classes = tuple(kinds.get(code, usual) for code in starts)
    start, cuttable, going, match = 2, 4, 6, 1  # twice the number of a state
    begun = (going, cuttable, going)
    steps = [0, 0, 0, 0, *begun, 0, going, cuttable, match, match, *begun, match]
    return DFA(starts, classes, 4, array("i", steps), (start // 2,) * 4)


def _class(ranges: Ranges) -> str:
    return "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in ranges)
