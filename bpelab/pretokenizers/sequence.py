"""Sequence: several pre-tokenizers in a row.

Each step cuts the pieces of the step before it, with two subtleties. Steps after a ByteLevel see GPT-2's byte alphabet,
in which `é` is `Ã©` and the byte 0xB2 is a digit. And Metaspace with the scheme "first" has to know whether a piece
comes from the very beginning of the input; after a prefix is added, several pieces may.

Chapter: Regex pre-tokenization. Cost: the sum of the steps'. Source: tokenizers/src/pre_tokenizers/sequence.rs and
tokenizers/src/tokenizer/normalizer.rs (alignments), compared on random sequences.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from .._support.lazy_property import cached_property
from .base import PreTokenizer
from .metaspace import Metaspace
from .split import Split

if TYPE_CHECKING:
    from .base import Preparation
    from .pattern_steps import PatternStep

MAX_STEPS = 256
MAX_METASPACES = 8
"""Metaspaces with different replacements can multiply the pieces; many in a row would exhaust memory."""
MAX_DEPTH = 50


@dataclass(frozen=True)
class PreTokenizerSequence(PreTokenizer):
    """Apply the `pretokenizers` in order, each to every piece of the one before.

    >>> from bpelab.pretokenizers.byte_level import ByteLevel
    >>> from bpelab.pretokenizers.char_types import Digits, Punctuation
    >>> falcon = [Punctuation("Contiguous"), ByteLevel(add_prefix_space=False), Digits()]
    >>> PreTokenizerSequence(falcon).split("n²=49!")  # in GPT-2's alphabet, since a step follows ByteLevel
    ['n', 'Â', '²', '=', '49', '!']

    Raises ValueError for two ByteLevels (the second would write the alphabet in the alphabet), and for more steps than
    any file needs: 256 in all, 8 Metaspaces, 50 sequences within sequences.
    """

    pretokenizers: tuple[PreTokenizer, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "pretokenizers", tuple(self.pretokenizers))
        byte_levels = sum(step.byte_level for step in self.steps)
        metaspaces = sum(isinstance(step, Metaspace) for step in self.steps)
        for count, limit, what in (
            (byte_levels, 1, "ByteLevel, as a second one would write the alphabet in the alphabet"),
            (metaspaces, MAX_METASPACES, "Metaspaces"),
            (len(self.steps), MAX_STEPS, "steps"),
            (self.depth, MAX_DEPTH, "sequences within sequences"),
        ):
            if count > limit:
                raise ValueError(f"a Sequence of pre-tokenizers can have at most {limit} {what}; this one has {count}")

    @cached_property
    def steps(self) -> tuple[PreTokenizer, ...]:
        steps: list[PreTokenizer] = []
        for part in self.pretokenizers:
            steps += part.steps
        return tuple(steps)

    def first_steps(self, number: int) -> PreTokenizer:
        return PreTokenizerSequence(self.steps[:number])

    @cached_property
    def depth(self) -> int:
        return 1 + max((part.depth for part in self.pretokenizers if isinstance(part, PreTokenizerSequence)), default=0)

    def without_prefix(self) -> PreTokenizerSequence:
        return PreTokenizerSequence((self.steps[0].without_prefix(), *self.steps[1:])) if self.steps else self

    def split(self, text: str, first: bool = True) -> list[str]:
        if not text:
            return []
        if first and self.asks_for_origins:
            return self.split_with_origins(text, 1)
        parts = self.steps[0].split(text, first) if self.steps else [text]
        for before, step in zip(self.steps, self.steps[1:]):
            parts = [piece for part in before.for_next_step(parts) for piece in step.split(part, False)]
        return parts

    @cached_property
    def asks_for_origins(self) -> bool:
        return any(step.depends_on_position for step in self.steps[1:])

    def split_with_origins(self, text: str, chars_from_first: int) -> list[str]:
        # Each piece is paired with the number of its leading characters that come from the input's first character.
        parts = [(text, chars_from_first)] if text else []
        for index, step in enumerate(self.steps):
            parts = [cut for part, chars_from_first in parts for cut in _cut(step, part, chars_from_first)]
            if index < len(self.steps) - 1:
                texts = step.for_next_step([part for part, _ in parts])
                origins = step.for_next_step([part[:origin] for part, origin in parts])
                parts = list(zip(texts, map(len, origins)))
        return [part for part, _ in parts]

    @property
    def depends_on_position(self) -> bool:
        return any(step.depends_on_position for step in self.steps)

    @property
    def as_single_split(self) -> Split | None:
        """The `as_single_split` of the only step, ignoring a final ByteLevel that cuts nothing."""
        steps = list(self.steps)
        if len(steps) > 1 and steps[-1].cuts_nothing:
            steps.pop()
        return steps[0].as_single_split if len(steps) == 1 else None

    @property
    def byte_level(self) -> bool:
        """False if a Metaspace adds a character that isn't in the byte alphabet."""
        steps = iter(self.steps)
        return any(step.byte_level for step in steps) and all(step.keeps_byte_alphabet for step in steps)

    @property
    def emits_byte_alphabet(self) -> bool:
        return any(step.byte_level for step in self.steps[:-1])

    @property
    def piece_length(self) -> int:
        """The first step's: the other steps cut its pieces one by one."""
        return self.steps[0].piece_length if self.steps else 0

    def pattern_steps(self, first: bool = True) -> list[PatternStep] | None:
        steps: list[PatternStep] = []
        for index, step in enumerate(self.steps):
            patterns = step.pattern_steps(first and not index)
            if patterns is None:
                return None
            steps += patterns
        return steps

    def preparation(self) -> Preparation | None:
        return self.steps[0].preparation() if self.steps else None


def _cut(step: PreTokenizer, text: str, chars_from_first: int) -> list[tuple[str, int]]:
    """Return pairs of a piece and the number of its leading characters among the first `chars_from_first`."""
    pieces = step.split(text, chars_from_first > 0)
    lengths = list(map(len, pieces))
    added = sum(lengths) - len(text)
    starts = accumulate(lengths, initial=0) if added >= 0 else step.piece_starts(text, pieces)
    if chars_from_first and added > 0:
        chars_from_first += added  # a prefix counts as part of the first character
    return [(piece, min(len(piece), max(0, chars_from_first - start))) for piece, start in zip(pieces, starts)]
