"""Convert a pre-tokenizer to a plan for C: a preparation of the text in Python, then one level for each pattern.

Each pre-tokenizer defines its equivalent patterns (`PreTokenizer.pattern_steps`), in most cases a single one. Python
runs patterns with lookbehind and those that match the empty string.

Chapter: Native code. Cost: compiling the patterns, a millisecond for most.
"""

from __future__ import annotations

from ..errors import PatternError
from ..pretokenizers.base import ALL
from ..regex.dfa import NotRegular, dfa_for
from ..regex.pattern_families import family_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model.bpe import BPEModel
    from ..pretokenizers.base import Preparation, PreTokenizer
    from ..pretokenizers.split import Split
    from ..regex.charsets import Dialect
    from ..regex.dfa import DFA

    Level = tuple[int, bytes, tuple[Any, ...]]
    """A level of `Encoder`: which pieces it keeps, bytes that a text must contain to be split, and its DFA."""

MAX_LEVELS = 15
"""The most levels of a pre-tokenizer; the encoder has one more, which the model itself may need."""

WHOLE = r"(?s:.+)"
"""A pattern that matches a whole text."""
LETTER = r"\p{L}"
"""A pattern that matches a letter; BoundlessBPE's superwords consist of pre-tokens that have one."""


class Unsupported(Exception):
    """The encoder in C doesn't support this pre-tokenizer."""


def split_steps_for(pre_tokenizer: PreTokenizer | None, model: BPEModel) -> tuple[Level, ...] | None:
    """Return the levels that split a text for `model` after its `preparation`, or None if only Python can do it."""
    if pre_tokenizer is not None and (
        pre_tokenizer.emits_byte_alphabet or (model.is_char_level and pre_tokenizer.byte_level)
    ):
        return None
    try:
        levels = () if pre_tokenizer is None else _levels(pre_tokenizer)
    except (Unsupported, PatternError, NotRegular):
        return None
    return levels if len(levels) <= MAX_LEVELS else None


def unserved_part(pre_tokenizer: PreTokenizer | None, model: BPEModel) -> str:
    """Return the part of a tokenizer that only Python can serve, as words for a message: a step, or the model."""
    if pre_tokenizer is None:
        return "its model"
    steps = pre_tokenizer.steps
    for number, step in enumerate(steps, 1):
        if split_steps_for(pre_tokenizer.first_steps(number), model) is None:
            before = f", after {type(steps[number - 2]).__name__}" if number > 1 else ""
            return f"the step {type(step).__name__} of its pre-tokenizer{before}"
    return "its model"


def scan_table(split: Split | None) -> tuple[Any, ...] | None:
    """Return the DFA of a Split (one that matches whole texts for None), or None if only Python can split."""
    if split is not None and split.as_single_split is None:
        return None
    try:
        return dfa_table(dfa_for(WHOLE) if split is None else dfa_for(split.pattern, split.dialect))
    except (Unsupported, PatternError, NotRegular):
        return None


def _levels(pre_tokenizer: PreTokenizer) -> tuple[Level, ...]:
    if (split := pre_tokenizer.as_single_split) is not None:
        return (_level(split.pattern, ALL, split.dialect),)
    steps = pre_tokenizer.pattern_steps()
    if steps is None:
        raise Unsupported
    return tuple(_level(*step) for step in steps)


def _level(pattern: str, keep: int, dialect: Dialect, required: str = "") -> Level:
    return keep, required.encode(), dfa_table(dfa_for(pattern, dialect))


def dfa_table(dfa: DFA) -> tuple[Any, ...]:
    """Return (transitions, width, start state, two stages of the class table, family). Raises Unsupported."""
    start = dfa.entries[0]
    matches_empty = any(step & 1 for step in dfa.trans[start * dfa.width : (start + 1) * dfa.width])
    if matches_empty or len(set(dfa.entries)) > 1:  # it matches the empty string, or has lookbehind
        raise Unsupported
    return dfa.trans, dfa.width, start, dfa.stage1, dfa.stage2, family_of(dfa)


def preparation(pre_tokenizer: PreTokenizer | None) -> Preparation | None:
    """Return the step that prepares a text for splitting, or None if there is none."""
    return None if pre_tokenizer is None else pre_tokenizer.preparation()
