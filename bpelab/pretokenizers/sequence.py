"""Sequence: several pre-tokenizers in a row.

Each step cuts the pieces of the step before it, with two subtleties. Steps after a ByteLevel see GPT-2's byte alphabet,
in which `é` is `Ã©` and the byte 0xB2 is a digit. And Metaspace "first" has to know whether a piece comes from the very
beginning of the input; once something has been prepended, several pieces do.

Chapter: Regex pre-tokenization. Cost: the sum of the steps'. Source: tokenizers/src/pre_tokenizers/sequence.rs and
tokenizers/src/tokenizer/normalizer.rs (alignments), compared on random sequences.
"""

from dataclasses import dataclass
from itertools import accumulate

from .._support.lazy_property import cached_property
from ..unicode.byte_alphabet import BYTE_OF_CHAR, to_alphabet
from .base import PreTokenizer
from .byte_level import ByteLevel
from .metaspace import Metaspace
from .split import Split
from .split_pattern import SplitPattern

MAX_STEPS = 256
MAX_METASPACES = 8
"""Metaspaces with different replacements can multiply the pieces; a long row of them would exhaust memory."""
MAX_DEPTH = 50


@dataclass(frozen=True)
class PreTokenizerSequence(PreTokenizer):
    """Apply the `pretokenizers` in order, each to every piece of the one before.

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
        kinds = [type(step) for step in self.steps]
        for count, limit, what in (
            (kinds.count(ByteLevel), 1, "ByteLevel, as a second one would write the alphabet in the alphabet"),
            (kinds.count(Metaspace), MAX_METASPACES, "Metaspaces"),
            (len(kinds), MAX_STEPS, "steps"),
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

    @cached_property
    def depth(self) -> int:
        return 1 + max((part.depth for part in self.pretokenizers if isinstance(part, PreTokenizerSequence)), default=0)

    def without_prefix(self) -> "PreTokenizerSequence":
        return PreTokenizerSequence((self.steps[0].without_prefix(), *self.steps[1:])) if self.steps else self

    def split(self, text: str, first: bool = True) -> list[str]:
        if not text:
            return []
        if first and self.asks_for_origins:
            return self.split_with_origins(text, 1)
        parts = self.steps[0].split(text, first) if self.steps else [text]
        for before, step in zip(self.steps, self.steps[1:]):
            if isinstance(before, ByteLevel):
                parts = [to_alphabet(part.encode()) for part in parts]
            parts = [piece for part in parts for piece in step.split(part, False)]
        return parts

    @cached_property
    def asks_for_origins(self) -> bool:
        return any(step.asks_for_first for step in self.steps[1:])

    def split_with_origins(self, text: str, chars_from_first: int) -> list[str]:
        # Each piece is paired with the number of its leading characters that come from the input's first character.
        parts = [(text, chars_from_first)] if text else []
        for index, step in enumerate(self.steps):
            parts = [cut for part, chars_from_first in parts for cut in _cut(step, part, chars_from_first)]
            if isinstance(step, ByteLevel) and index < len(self.steps) - 1:
                parts = [(to_alphabet(part.encode()), len(part[:origin].encode())) for part, origin in parts]
        return [part for part, _ in parts]

    @property
    def asks_for_first(self) -> bool:
        return any(step.asks_for_first for step in self.steps)

    @property
    def as_single_split(self) -> Split | None:
        """The `as_single_split` of the only step, not counting a final ByteLevel that cuts nothing."""
        steps = list(self.steps)
        last = steps[-1] if steps else None
        if len(steps) > 1 and isinstance(last, ByteLevel) and not (last.add_prefix_space or last.use_regex):
            steps.pop()
        return steps[0].as_single_split if len(steps) == 1 else None

    @property
    def byte_level(self) -> bool:
        """False where a Metaspace adds a character that is not in the byte alphabet."""
        steps = iter(self.steps)
        found = any(isinstance(step, ByteLevel) for step in steps)
        return found and all(step.replacement in BYTE_OF_CHAR for step in steps if isinstance(step, Metaspace))

    @property
    def alphabet(self) -> bool:
        return any(isinstance(step, ByteLevel) for step in self.steps[:-1])


def _cut(step: PreTokenizer, text: str, chars_from_first: int) -> list[tuple[str, int]]:
    """Return (piece, origin) pairs: how many leading characters of a piece are among the first `chars_from_first`."""
    found = step.split(text, chars_from_first > 0)
    lengths = list(map(len, found))
    added = sum(lengths) - len(text)
    starts = accumulate(lengths, initial=0) if added >= 0 else _starts(step, text, found)
    if chars_from_first and added > 0:
        chars_from_first += added  # what is put in front counts as part of the first character
    return [(piece, min(len(piece), max(0, chars_from_first - start))) for piece, start in zip(found, starts)]


def _starts(step: PreTokenizer, text: str, found: list[str]) -> list[int]:
    """Return the offsets at which the pieces `found` begin, for a step that drops part of the text."""
    if isinstance(step, (Split, SplitPattern)):
        matches = step.spans_of(text) if isinstance(step, Split) else step.pattern.spans(text)
        spans = [(0, 0), *matches, (len(text), len(text))]
        kept = spans if step.invert else [(a, b) for (_, a), (b, _) in zip(spans, spans[1:])]
        return [start for start, end in kept if start < end]
    # The other steps drop every occurrence of some characters, or spaces at the front.
    starts, end = [], 0
    for piece in found:
        starts.append(text.index(piece, end))
        end = starts[-1] + len(piece)
    return starts
