"""Several pre-tokenizers, one after another, and the registry of all those that need no pattern.

Each step cuts the pieces of the one before. Two things are to be kept in mind between steps. What comes after a
ByteLevel sees GPT-2's byte alphabet, in which `é` is `Ã©` and the byte 0xB2 a digit. And Metaspace "first" asks whether
a piece comes from the very beginning of the input, which several do once something was put in front of it.

Chapter: Regex pre-tokenization. Cost: the sum of the steps'. Source: tokenizers/src/pre_tokenizers/sequence.rs and
tokenizers/src/tokenizer/normalizer.rs (alignments), compared on random sequences.
"""

from dataclasses import dataclass
from itertools import accumulate

from ..byte_alphabet import BYTE_OF_CHAR, to_alphabet
from ..cached import cached_property
from .base import PreTokenizer
from .byte_level import ByteLevel
from .components import (
    BertPreTokenizer,
    CharDelimiterSplit,
    Digits,
    FixedLength,
    Punctuation,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
)
from .metaspace import Metaspace
from .split import Split
from .split_pattern import SplitPattern

MAX_STEPS = 256
MAX_METASPACES = 8
"""Two Metaspaces with different replacements can multiply the pieces; a long row of them would fill any memory."""
MAX_DEPTH = 50


@dataclass(frozen=True)
class PreTokenizerSequence(PreTokenizer):
    """The `pretokenizers` in order, each on every piece of the one before.

    >>> falcon = [Punctuation("Contiguous"), ByteLevel(add_prefix_space=False), Digits()]
    >>> PreTokenizerSequence(falcon).split("n²=49!")  # in GPT-2's alphabet, since a step follows ByteLevel
    ['n', 'Â', '²', '=', '49', '!']

    Raises ValueError for two ByteLevels (the second would write the alphabet in the alphabet), and for more steps than
    any file needs: 256 in all, 8 Metaspaces, 50 sequences within sequences.
    """

    pretokenizers: tuple[PreTokenizer, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "pretokenizers", tuple(self.pretokenizers))
        kinds = [type(step) for step in self._steps]
        for count, limit, what in (
            (kinds.count(ByteLevel), 1, "ByteLevel, as a second one would write the alphabet in the alphabet"),
            (kinds.count(Metaspace), MAX_METASPACES, "Metaspaces"),
            (len(kinds), MAX_STEPS, "steps"),
            (self._depth, MAX_DEPTH, "sequences within sequences"),
        ):
            if count > limit:
                raise ValueError(f"a Sequence of pre-tokenizers can have at most {limit} {what}; this one has {count}")

    @cached_property
    def _steps(self) -> tuple[PreTokenizer, ...]:
        steps: list[PreTokenizer] = []
        for part in self.pretokenizers:
            steps += part._steps if isinstance(part, PreTokenizerSequence) else [part]
        return tuple(steps)

    @cached_property
    def _depth(self) -> int:
        return 1 + max(
            (part._depth for part in self.pretokenizers if isinstance(part, PreTokenizerSequence)), default=0
        )

    def split(self, text: str, first: bool = True) -> list[str]:
        if not text:
            return []
        if first and self.asks_for_origins:
            return self.split_with_origins(text, 1)
        parts = self._steps[0].split(text, first) if self._steps else [text]
        for before, step in zip(self._steps, self._steps[1:]):
            if isinstance(before, ByteLevel):
                parts = [to_alphabet(part.encode()) for part in parts]
            parts = [piece for part in parts for piece in step.split(part, False)]
        return parts

    @cached_property
    def asks_for_origins(self) -> bool:
        return any(step.asks_for_first for step in self._steps[1:])

    def split_with_origins(self, text: str, from_first: int) -> list[str]:
        # Beside a piece stands how many of its first characters do.
        parts = [(text, from_first)] if text else []
        for number, step in enumerate(self._steps):
            parts = [cut for part, from_first in parts for cut in _cut(step, part, from_first)]
            if isinstance(step, ByteLevel) and number < len(self._steps) - 1:
                parts = [(to_alphabet(part.encode()), len(part[:origin].encode())) for part, origin in parts]
        return [part for part, _ in parts]

    @property
    def asks_for_first(self) -> bool:
        return any(step.asks_for_first for step in self._steps)

    @property
    def sole_split(self) -> Split | None:
        """That of the only step, without a ByteLevel after it that cuts nothing."""
        steps = list(self._steps)
        last = steps[-1] if steps else None
        if len(steps) > 1 and isinstance(last, ByteLevel) and not (last.add_prefix_space or last.use_regex):
            steps.pop()
        return steps[0].sole_split if len(steps) == 1 else None

    @property
    def byte_level(self) -> bool:
        """Not where a Metaspace puts something into the alphabet that stands for no byte."""
        steps = iter(self._steps)
        found = any(isinstance(step, ByteLevel) for step in steps)
        return found and all(step.replacement in BYTE_OF_CHAR for step in steps if isinstance(step, Metaspace))

    @property
    def alphabet(self) -> bool:
        return any(isinstance(step, ByteLevel) for step in self._steps[:-1])


def _cut(step: PreTokenizer, text: str, from_first: int) -> list[tuple[str, int]]:
    """The pieces of `text`, and how many of the first characters of each are among its `from_first` first ones."""
    found = step.split(text, from_first > 0)
    lengths = list(map(len, found))
    added = sum(lengths) - len(text)
    starts = accumulate(lengths, initial=0) if added >= 0 else _starts(step, text, found)
    if from_first and added > 0:
        from_first += added  # what is put in front counts as part of the first character
    return [(piece, min(len(piece), max(0, from_first - start))) for piece, start in zip(found, starts)]


def _starts(step: PreTokenizer, text: str, found: list[str]) -> list[int]:
    """Where the pieces of a step that drops something of the text begin."""
    if isinstance(step, (Split, SplitPattern)):
        matches = step._spans(text) if isinstance(step, Split) else step.pattern.spans(text)
        spans = [(0, 0), *matches, (len(text), len(text))]
        kept = spans if step.invert else [(a, b) for (_, a), (b, _) in zip(spans, spans[1:])]
        return [start for start, end in kept if start < end]
    # The other steps drop every occurrence of some characters, or spaces at the front.
    starts, end = [], 0
    for piece in found:
        starts.append(text.index(piece, end))
        end = starts[-1] + len(piece)
    return starts


PRE_TOKENIZERS: dict[str, type[PreTokenizer]] = {
    "BertPreTokenizer": BertPreTokenizer,
    "ByteLevel": ByteLevel,
    "CharDelimiterSplit": CharDelimiterSplit,
    "Digits": Digits,
    "FixedLength": FixedLength,
    "Metaspace": Metaspace,
    "Punctuation": Punctuation,
    "Sequence": PreTokenizerSequence,
    "UnicodeScripts": UnicodeScripts,
    "Whitespace": Whitespace,
    "WhitespaceSplit": WhitespaceSplit,
}
"""Hugging Face's `type` -> class. Split is not among them."""
