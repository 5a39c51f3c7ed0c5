"""Convert a pre-tokenizer to what C runs: a preparation of the text in Python, then patterns, one level each.

Each pre-tokenizer says itself which patterns it comes to (`PreTokenizer.pattern_steps`); for most it is one. Patterns
with look-behind, or that match the empty string, are left to Python.

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
    """What `Encoder` takes for a level: which pieces it keeps, bytes without which it splits nothing, and its DFA."""

MAX_LEVELS = 15
"""The encoder has one more, which the model itself may need."""

WHOLE = r"(?s:.+)"
"""A pattern that matches a whole text."""
LETTER = r"\p{L}"
"""A pattern that matches a letter: what a pre-token has that may be part of a superword, under BoundlessBPE."""


class Unsupported(Exception):
    """The encoder in C can't do what this pre-tokenizer does."""


def levels_for(pre_tokenizer: PreTokenizer | None, model: BPEModel) -> tuple[Level, ...] | None:
    """Return the levels that split a text for `model` after its `preparation`; None if only Python can do it."""
    characters = model.units is not None and model.units.characters
    if pre_tokenizer is not None and (pre_tokenizer.alphabet or (characters and pre_tokenizer.byte_level)):
        return None
    try:
        levels = () if pre_tokenizer is None else _levels(pre_tokenizer)
    except (Unsupported, PatternError, NotRegular):
        return None
    return levels if len(levels) <= MAX_LEVELS else None


def unserved_part(pre_tokenizer: PreTokenizer | None, model: BPEModel) -> str:
    """Return which part of a tokenizer that only Python can serve is the reason: a step, or the model."""
    if pre_tokenizer is None:
        return "its model"
    steps = pre_tokenizer.steps
    for number, step in enumerate(steps, 1):
        if levels_for(pre_tokenizer.first_steps(number), model) is None:
            before = f", after {type(steps[number - 2]).__name__}" if number > 1 else ""
            return f"the step {type(step).__name__} of its pre-tokenizer{before}"
    return "its model"


def scan_table(split: Split | None) -> tuple[Any, ...] | None:
    """Return the DFA of a Split; for None that of a pattern for whole texts. Returns None if only Python can split."""
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
    """Return transitions, width, start state, the two-stage table of classes, and the family. Raises Unsupported."""
    start = dfa.entries[0]
    matches_empty = any(step & 1 for step in dfa.trans[start * dfa.width : (start + 1) * dfa.width])
    if matches_empty or len(set(dfa.entries)) > 1:  # it matches the empty string, or has look-behind
        raise Unsupported
    return dfa.trans, dfa.width, start, dfa.stage1, dfa.stage2, family_of(dfa)


def preparation(pre_tokenizer: PreTokenizer | None) -> Preparation | None:
    """Return what is done to a text before it is split; None for nothing."""
    return None if pre_tokenizer is None else pre_tokenizer.preparation()
