"""From a pre-tokenizer to what C cuts by: what Python does to the text first, and then one pattern after another.

Most pre-tokenizers come to one pattern; `step_patterns.py` has the others. Patterns that look behind, or match the
empty string, are left to Python.

Chapter: Compiled. Cost: compiling the patterns, a millisecond for most.
"""

from __future__ import annotations

from ..errors import PatternError
from ..pretokenizers.dfa import NotRegular, dfa_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..model import BPEModel
    from ..pretokenizers.base import PreTokenizer
    from ..pretokenizers.dfa import DFA
    from ..pretokenizers.regex_sets import Dialect
    from ..pretokenizers.split import Split

    Level = tuple[int, bytes, tuple[Any, ...]]
    """What is kept, the bytes without which nothing is cut, and the pattern's table, as the Encoder wants them."""
    Preparation = Callable[[str, bool], str]
    """What is done to a text, given whether it is the beginning of the input."""

ALL, MATCHES, GAPS = 0, 1, 2
"""What a level keeps; see levels.h."""
MOST_LEVELS = 15
"""The encoder has room for one more, which the model itself may need."""

WHOLE = r"(?s:.+)"
"""A pattern that matches whole texts."""


class Unserved(Exception):
    """The encoder in C can't do what this pre-tokenizer does."""


def levels_for(pre_tokenizer: PreTokenizer | None, model: BPEModel) -> tuple[Level, ...] | None:
    """How a text is cut for `model` after its `preparation`; None where only Python can do it."""
    characters = model.units is not None and model.units.characters
    if pre_tokenizer is not None and (pre_tokenizer.alphabet or (characters and pre_tokenizer.byte_level)):
        return None
    try:
        levels = () if pre_tokenizer is None else _levels(pre_tokenizer)
    except (Unserved, PatternError, NotRegular):
        return None
    return levels if len(levels) <= MOST_LEVELS else None


def scan_table(split: Split | None) -> tuple[Any, ...] | None:
    """The table of a Split, of one that matches whole texts for None; None where only Python can cut."""
    if split is not None and split.sole_split is None:
        return None
    try:
        return _table(dfa_for(WHOLE) if split is None else dfa_for(split.pattern, split.dialect))
    except (Unserved, PatternError, NotRegular):
        return None


def _levels(pre_tokenizer: PreTokenizer) -> tuple[Level, ...]:
    if (split := pre_tokenizer.sole_split) is not None:
        return (_level(split.pattern, ALL, split.dialect),)
    from .step_patterns import patterns_of

    return tuple(_level(*found) for found in patterns_of(pre_tokenizer))


def _level(pattern: str, keep: int, dialect: Dialect, needs: str = "") -> Level:
    return keep, needs.encode(), _table(dfa_for(pattern, dialect))


def _table(dfa: DFA) -> tuple[Any, ...]:
    """Transitions, width, start, and classes in two stages. Raises Unserved."""
    start = dfa.entries[0]
    empty = any(step & 1 for step in dfa.trans[start * dfa.width : (start + 1) * dfa.width])
    if empty or len(set(dfa.entries)) > 1:  # it matches the empty string, or looks behind
        raise Unserved
    return dfa.trans, dfa.width, start, dfa.stage1, dfa.stage2


def preparation(pre_tokenizer: PreTokenizer | None) -> Preparation | None:
    """What is done to a text before it is cut; None for nothing."""
    if pre_tokenizer is None or pre_tokenizer.sole_split is not None:
        return None
    from . import step_patterns

    return step_patterns.preparation(pre_tokenizer)
